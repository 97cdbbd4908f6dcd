//! Random programs that try to leave their session: a grammar of calls, syntax and tricks over
//! every name that the system has.
//!
//! No program yields for ever, because the clock of the test's world stands while a run is busy.
//!
//! INVARIANT: a program depends on its seed alone, and its text does not contain the secret.
//! It does not judge what a program does; `../isolation.rs` does. Read next: `../isolation.rs`.

/// A source of chance with a seed: splitmix64.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % limit as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Names of the program that lets sessions begin, of its libraries, and of the other session.
const FOREIGN: &[&str] = &[
    "secret",
    "vault",
    "key",
    "guarded",
    "total",
    "ask!",
    "%session",
    "%spawn-session!",
    "%protocol-grants",
    "%current-tag",
    "%keep-time",
    "%teller",
    "serve-sessions!",
];

/// Values that belong to others, or could be taken for something of theirs.
const VALUES: &[&str] = &[
    "(record 'vault \"mine\")",
    "(record 'keys 1)",
    "(record 'alarm 1)",
    "(record 'topic 1)",
    "(record 'says \"hi\")",
    "(record 'note 1)",
    "(record 'open 1)",
    "(record 'session/request :session \"bob\" :payload ''stolen :tag 1)",
    "(record 'session/event :session \"bob\" :kind 'result :payload '() :tag 1 :number 99)",
    "(record 'session/event :session \"mallory\" :kind 'result :payload '() :tag 1 :number 99)",
    "(record 'session/close :session \"bob\")",
    "(record 'session/seen :session \"bob\" :number 1000)",
    "(record 'session/ready :session \"bob\")",
    "(record 'session/begin :session \"mallory\" :kept '())",
    "(record 'policy/constraint 'x 'allow)",
    "(pattern (vault $x))",
    "(pattern _)",
    "(pattern (public $x))",
    "\"secret.txt\"",
    "'(duet dataspace)",
    "'(duet internal control)",
    "(interaction-environment)",
    "(system-global-environment)",
    "(environment '(duet dataspace))",
    "(current-output-port)",
    "(current-facet)",
    "(current-actor)",
    "(dataspace-capability)",
    "(tool-capability 'workspace/read)",
    "(lambda arguments (write arguments) arguments)",
    "(lambda () (assert! (record 'alarm 'later)))",
    "(call/cc (lambda (k) k))",
    "(make-parameter 1)",
    "(string->symbol \"assert!\")",
    "car",
    "list",
    "write",
    "'()",
    "#t",
    "\"text\"",
    "'vault",
];

/// Forms with a hole.
const TRICKS: &[&str] = &[
    "(begin @ @)",
    "(let ((x @)) (write x) x)",
    "(define x @)",
    "(set! car (lambda (x) @))",
    "(define (assert! . x) @)",
    "(guard (e (#t (write e) @)) @)",
    "(with-exception-handler (lambda (e) @) (lambda () (+ 1 (raise-continuable @))))",
    "(dynamic-wind (lambda () @) (lambda () @) (lambda () @))",
    "(call/cc (lambda (k) (set! again k) @))",
    "(call-with-prompt 'p (lambda () (abort-to-prompt 'p @)) (lambda (k . x) @))",
    "(let-syntax ((m (syntax-rules () ((_ x) (begin x @))))) (m @))",
    "(define-syntax leak (syntax-rules () ((_) @)))",
    "(define-syntax leak (er-macro-transformer (lambda (form rename compare) (list (rename 'watch) '@))))",
    "(eval '@ (interaction-environment))",
    "(eval '@ (environment '(scheme base) '(duet dataspace)))",
    "(eval '@ (make-sandbox '(duet dataspace)))",
    "(apply @ (list @ @))",
    "(for-each (lambda (f) (guard (e (#t #f)) (f @))) (list @ @))",
    "(import (duet dataspace))",
    "(import (only (duet sessions) serve-sessions!))",
    "(include \"secret.txt\")",
    "(load \"secret.txt\")",
    "(define-library (mine) (export x) (import (duet dataspace)) (begin (define x @)))",
    "(define-module (mine) (provide x) (require (duet dataspace)) (define x @))",
    "(spawn (lambda () @))",
    "(%spawn-guarded (lambda () @) (lambda (e) @))",
    "(spawn-entity! 'session :grants '(\"*\") :config (dictionary 'session \"bob\" 'imports #f 'fuel #f))",
    "(register-entity! 'session (lambda (config) @))",
    "(on-assert (vault $x) (write x) @)",
    "(on-assert (public $cap) (assert! @ cap) (yield) @)",
    "(on-assert (public $cap) (assert! (record 'note 2) cap) (assert! @ (attenuate cap)))",
    "(during (keys $k) @)",
    "(on-message (session/request :session $id :payload $p :tag $t) (write (list id p)) @)",
    "(watch (pattern $all) write)",
    "(retract! #)",
    "(update! # @)",
    "(unwatch #)",
    "(stop-facet! #)",
    "(send! # # (record 'alarm 1))",
    "(%console-write 1 (bytevector 65))",
    "(let loop () (loop))",
    "(let loop ((n 0)) (guard (e (#t #f)) (assert! (record 'topic n))) (loop (+ n 1)))",
    "(let loop ((l '())) (loop (cons (make-vector 10000 l) l)))",
    "(define (deep n) (+ 1 (deep n))) ",
    "(exit)",
    "(emergency-exit 3)",
    "(parameterize ((current-output-port @)) (write @))",
    "(call-with-output-file \"secret.txt\" (lambda (p) (write @ p)))",
    "(call-with-input-file \"secret.txt\" (lambda (p) (write (read-line p))))",
    "(invoke-tool! 'r 'workspace/read (dictionary 'path \"secret.txt\"))",
    "(call-tool 'r \"workspace/read\" (dictionary 'path \"secret.txt\"))",
    "(user-input :prompt @)",
];

/// Whole programs with holes, which take several steps to one aim.
const HEISTS: &[&str] = &[
    "(import (duet dataspace)) (on-assert (vault $x) (write x))
     (guard (e (#t #f)) @)",
    "(import (duet dataspace)) (on-message (session/request :session $id :payload $p :tag $t) (write p))
     (guard (e (#t #f)) @)",
    "(import (only (duet dataspace) call-tool)) 
     (write (call-tool 'r \"workspace/read\" (dictionary 'path \"secret.txt\")))",
    "(define-library (mine) (export peek) (import (duet base) (duet dataspace))
       (begin (define (peek) (watch (pattern (public $x)) write))))
     (import (mine)) (peek)
     (guard (e (#t #f)) @)",
    "(on-assert (public $cap) (assert! (record 'alarm 1) cap) (yield))
     (guard (e (#t #f)) @)",
    "(on-assert (public $cap) (let ((more (attenuate cap))) (assert! (record 'alarm 1) more)
       (yield) (assert! @ more)))",
    "(on-assert (public $cap) (revoke! cap) (yield) @) (sleep 10)",
    "(define own assert!) (define (assert! . x) (apply own x)) (assert! (record 'alarm 1))
     (guard (e (#t #f)) @)",
    "(on-message (says $x) (eval x (interaction-environment))) (message! (record 'says '@))
     (guard (e (#t #f)) @)",
    "(define again #f) (define n 0) (call/cc (lambda (k) (set! again k))) (set! n (+ n 1)) @ (if (< n 3) (again n))",
    "(eval '(begin (import (duet dataspace)) (on-assert (public $x) (write x))) (interaction-environment))
     (guard (e (#t #f)) @)",
    "(define-syntax watch-them (syntax-rules () ((_ x) (on-assert (x $y) (write y)))))
     (watch-them vault) (watch-them public)
     (guard (e (#t #f)) @)",
    "(let loop ((n 0)) (when (< n 60) (guard (e (#t #f)) (retract! n)) (guard (e (#t #f)) (unwatch n))
       (guard (e (#t #f)) (update! n @)) (guard (e (#t #f)) (stop-facet! n)) (loop (+ n 1))))",
    "(message! (record 'session/close :session \"bob\"))
     (guard (e (#t #f)) @)",
];

/// Writes programs.
pub(crate) struct Author {
    chance: Chance,
    names: Vec<&'static str>,
}

impl Author {
    /// Makes an author who knows these names beside those of others.
    pub(crate) fn new(seed: u64, names: Vec<&'static str>) -> Self {
        Self {
            chance: Chance::new(seed),
            names,
        }
    }

    /// Writes a program of one to eight forms, or one that takes several steps to one aim. In every
    /// second one of the former, a form that fails does not stop the others.
    pub(crate) fn program(&mut self) -> String {
        if self.chance.below(4) == 0 {
            let heist = self.chance.one(HEISTS);
            // Only values: a form that cannot be expanded would end the heist before it begins.
            return self.filled(heist, 0);
        }
        let count = 1 + self.chance.below(8);
        let is_guarded = self.chance.below(2) == 0;
        let form = |author: &mut Self| match author.form(3) {
            form if is_guarded => format!("(guard (e (#t #f)) {form})"),
            form => form,
        };
        let forms: Vec<String> = (0..count).map(|_| form(self)).collect();
        forms.join(" ")
    }

    fn form(&mut self, depth: usize) -> String {
        let form = match self.chance.below(10) {
            _ if depth == 0 => self.chance.one(VALUES).to_owned(),
            0..4 => self.chance.one(TRICKS).to_owned(),
            4..8 => {
                let count = self.chance.below(4);
                format!("({}{})", self.name(), " @".repeat(count))
            }
            8 => self.name().to_owned(),
            _ => self.chance.one(VALUES).to_owned(),
        };
        self.filled(&form, depth.saturating_sub(1))
    }

    fn name(&mut self) -> &'static str {
        if self.chance.below(4) == 0 {
            return self.chance.one(FOREIGN);
        }
        self.names[self.chance.below(self.names.len())]
    }

    /// Puts a form in the place of each `@`, and a small number in the place of each lone `#`.
    fn filled(&mut self, form: &str, depth: usize) -> String {
        let mut filled = String::new();
        let mut rest = form.chars().peekable();
        while let Some(character) = rest.next() {
            let is_number = character == '#' && rest.peek().is_some_and(|next| " )".contains(*next));
            match character {
                '@' => filled += &self.form(depth),
                '#' if is_number => filled += &self.chance.below(60).to_string(),
                _ => filled.push(character),
            }
        }
        filled
    }
}
