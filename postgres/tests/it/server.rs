//! A PostgreSQL server in a folder of its own, for as long as the test's process lives.
//!
//! INVARIANT: nothing is left: a shell that waits for the end of this process stops the server and
//! removes its folder, also if the process was killed.
#![allow(clippy::print_stderr, reason = "a test that cannot run says so")]
#![allow(dead_code, reason = "the tests of the command use a part of it")]
#![allow(clippy::disallowed_methods, reason = "it waits for another process")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use duet_postgres::{Address, PostgresStore};

/// Whom the server runs as if the test runs as root, which a server refuses: `nobody`.
const NOBODY: u32 = 65_534;

/// How long a server may take to answer.
const START_MAX: Duration = Duration::from_secs(60);

/// Where Debian has the programs, newest first; else they are sought on the path.
static PROGRAMS: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let mut versions: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path().join("bin"))
        .collect();
    versions.sort();
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    versions
        .into_iter()
        .rev()
        .chain(on_path.unwrap_or_default())
        .find(|folder| folder.join("initdb").exists())
});

pub(crate) struct Server {
    pub(crate) folder: PathBuf,
    keeper: Child,
    options: Vec<String>,
    is_root: bool,
}

impl Server {
    /// Starts a server with options, or says aloud that there is none.
    pub(crate) fn start(options: &[&str]) -> Option<Self> {
        let Some(programs) = PROGRAMS.as_ref() else {
            eprintln!("SKIPPED: PostgreSQL is not installed: `initdb` was not found");
            return None;
        };
        let folder = Folder::new();
        let mut made = command(&programs.join("initdb"), folder.is_root);
        made.args([
            "--no-sync",
            "-A",
            "trust",
            "-U",
            "duet",
            "-E",
            "UTF8",
            "--locale=C",
            "-D",
        ])
        .arg(folder.path.join("data"));
        perform(made);
        Some(Self::serve(programs, folder, options))
    }

    /// Starts a standby of the server, which takes over when it is [promoted](Self::promote).
    pub(crate) fn standby(&self, options: &[&str]) -> Self {
        let programs = PROGRAMS.as_ref().unwrap();
        let folder = Folder::new();
        let mut made = command(&programs.join("pg_basebackup"), folder.is_root);
        made.args(["-U", "duet", "-p", self.port(), "-h"]).arg(&self.folder);
        made.args(["-R", "-X", "stream", "-c", "fast", "--no-sync", "-D"])
            .arg(folder.path.join("data"));
        perform(made);
        Self::serve(programs, folder, options)
    }

    /// Lets a standby take over.
    pub(crate) fn promote(&self) {
        assert_eq!(self.sql("SELECT pg_promote()"), "t");
    }

    fn serve(programs: &Path, folder: Folder, options: &[&str]) -> Self {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let keeper = keep(programs, &folder.path, &options, folder.is_root);
        let server = Self {
            folder: folder.path,
            keeper,
            options,
            is_root: folder.is_root,
        };
        server.wait();
        server
    }

    /// The address of a schema.
    pub(crate) fn address(&self, schema: &str) -> Address {
        self.text(&format!("schema={schema}")).parse().unwrap()
    }

    /// The text of an address, with options.
    pub(crate) fn text(&self, options: &str) -> String {
        format!("postgres://duet@{}/postgres?{options}", self.host())
    }

    /// The folder of the socket, as an address names it.
    pub(crate) fn host(&self) -> String {
        self.folder.display().to_string().replace('/', "%2F")
    }

    /// The options of an address of a schema for which the server's clock is ahead of this host's.
    pub(crate) fn with_clock_ahead(&self, schema: &str, seconds: i64) -> String {
        let clock = format!("clock_of_{schema}");
        self.sql(&format!("CREATE SCHEMA {clock}"));
        self.set_clock(schema, seconds);
        format!("schema={schema}&options=-c%20search_path%3D{clock}%2Cpg_catalog")
    }

    /// Sets the clock of a schema that has one of its own, by how much it is ahead of this host's.
    pub(crate) fn set_clock(&self, schema: &str, seconds: i64) {
        self.sql(&format!(
            "CREATE OR REPLACE FUNCTION clock_of_{schema}.clock_timestamp() RETURNS timestamptz
                 LANGUAGE sql VOLATILE
                 AS $$SELECT pg_catalog.clock_timestamp() + interval '{seconds} s'$$"
        ));
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    /// Performs statements as the owner of the database.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let output = self.psql().arg("-c").arg(sql).output().unwrap();
        assert!(
            output.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Begins a session that performs the statements on its standard input, and ends with it.
    pub(crate) fn session(&self) -> Child {
        self.psql().stdin(Stdio::piped()).spawn().unwrap()
    }

    fn psql(&self) -> Command {
        let programs = PROGRAMS.as_ref().unwrap();
        let mut psql = Command::new(programs.join("psql"));
        psql.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "duet",
            "-d",
            "postgres",
            "-h",
        ]);
        psql.arg(&self.folder).args(["-p", self.port()]);
        psql
    }

    /// The port of the server, which is in the name of its socket, too.
    fn port(&self) -> &str {
        let mut ports = self.options.iter().filter_map(|option| option.strip_prefix("port="));
        ports.next().unwrap_or("5432")
    }

    /// Lets the user as whom servers run have a file alone.
    pub(crate) fn give(path: &Path) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        if fs::metadata(path).unwrap().uid() == 0 {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// Kills the server with all its processes, and starts it again at once.
    pub(crate) fn crash(&mut self) {
        self.end("crash");
        self.keeper = keep(PROGRAMS.as_ref().unwrap(), &self.folder, &self.options, self.is_root);
    }

    /// Sends a signal to all processes of the server.
    pub(crate) fn signal(&self, name: &str) {
        let server = fs::read_to_string(self.folder.join("server")).unwrap();
        let children = Command::new("pgrep").args(["-P", server.trim()]).output().unwrap();
        let children = String::from_utf8(children.stdout).unwrap();
        let mut kill = Command::new("kill");
        kill.arg(name).args(children.split_whitespace().chain([server.trim()]));
        // A session may end meanwhile.
        let _done = kill.stderr(Stdio::null()).status().unwrap();
    }

    fn end(&mut self, word: &str) {
        if let Some(mut stdin) = self.keeper.stdin.take() {
            writeln!(stdin, "{word}").unwrap();
        }
        self.keeper.wait().unwrap();
    }

    /// Waits until the server answers.
    pub(crate) fn wait(&self) {
        let begun = Instant::now();
        let ready = || {
            let mut ready = Command::new(PROGRAMS.as_ref().unwrap().join("pg_isready"));
            ready
                .arg("-q")
                .arg("-h")
                .arg(&self.folder)
                .args(["-p", self.port()])
                .status()
                .is_ok_and(|status| status.success())
        };
        while !ready() {
            let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(begun.elapsed() < START_MAX, "the server does not start: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end("end");
    }
}

/// A folder of the user as whom servers run, which is somebody else if this process is root.
struct Folder {
    path: PathBuf,
    is_root: bool,
}

impl Folder {
    fn new() -> Self {
        let path = tempfile::Builder::new().prefix("duet-pg").tempdir().unwrap().keep();
        let is_root = fs::metadata(&path).unwrap().uid() == 0;
        if is_root {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        Self { path, is_root }
    }
}

fn perform(mut command: Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

fn command(program: &Path, is_root: bool) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Runs a server until this process ends, or says `end` or `crash`; a crash leaves the folder.
fn keep(programs: &Path, folder: &Path, options: &[String], is_root: bool) -> Child {
    let script = r#"
        programs=$1 folder=$2; shift 2
        # A server does not start while processes of one that was killed are still there.
        serve() {
            until [ -e "$folder/ending" ]; do
                "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= "$@" \
                    >>"$folder/log" 2>&1 </dev/null &
                echo $! >"$folder/server"
                wait $!
                sleep 0.05
            done
        }
        serve "$@" &
        serving=$!
        read -r word
        : >"$folder/ending"
        case $word in crash) signal=KILL ;; *) signal=QUIT ;; esac
        kill -$signal "$(cat "$folder/server")"
        wait $serving
        rm "$folder/ending"
        [ "$word" = crash ] || rm -rf "$folder"
    "#;
    let mut keeper = command(Path::new("/bin/sh"), is_root);
    keeper
        .args(["-c", script, "sh"])
        .arg(programs)
        .arg(folder)
        .args(options.iter().flat_map(|option| ["-c", option.as_str()]));
    keeper.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The server that tests share, which loses everything when the machine stops.
pub(crate) fn shared() -> Option<&'static Server> {
    static SHARED: OnceLock<Option<Server>> = OnceLock::new();
    SHARED
        .get_or_init(|| Server::start(&["fsync=off", "max_connections=400"]))
        .as_ref()
}

/// A schema that no other test uses.
pub(crate) fn schema() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("s{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// An empty store on a server.
pub(crate) fn store(server: &Server) -> (Address, PostgresStore) {
    let address = server.address(&schema());
    let store = PostgresStore::open_or_create(&address).unwrap();
    (address, store)
}
