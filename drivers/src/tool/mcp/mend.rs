//! Messages of servers, brought into the protocol's form before the library reads them.
//!
//! The library drops a message that it cannot read, and whoever waits for the answer then waits
//! until the time limit. Real servers send half of a character, `NaN`, several messages in one
//! list, or an error that is a string. This module puts into the right form all that it
//! understands; of any other answer it makes an error that says why.
//! INVARIANT: what answers a request gives an answer or an error that the library reads. A line
//! that is no message, such as a line of a log, gives nothing.
//! It does not know which requests wait. Read next: `older.rs`, `failed.rs`.
//!
//! Source: JSON-RPC 2.0, "Response object", "Batch"; Model Context Protocol 2025-03-26, "Batching".

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::model::{ErrorCode, ServerJsonRpcMessage};
use serde_json::{Map, Value as Json, json};
use tokio::io::{AsyncRead, ReadBuf};

use super::{older, probe};
use crate::tool::surrogate::{joined, marked, unmarked};

/// The number of bytes that are read at once.
const CHUNK_BYTES: usize = 16 << 10;

/// The data of an error that stands for an answer that cannot be read.
const UNREADABLE: &str = "duet:unreadable";

/// Says whether an error stands for an answer that cannot be read.
pub(super) fn is_unreadable(data: Option<&Json>) -> bool {
    data.and_then(Json::as_str) == Some(UNREADABLE)
}

/// Makes the error that stands for an answer that cannot be read.
pub(super) fn unreadable(id: &Json, why: &str) -> Json {
    let error = json!({ "code": ErrorCode::INTERNAL_ERROR.0, "message": why, "data": UNREADABLE });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// Brings a text into the form of messages; `None` if it needs no change. `asked` is the request
/// that the text answers, if there is only one.
pub(super) fn mended(text: &[u8], asked: Option<&Json>) -> Option<Vec<Json>> {
    let came = text.trim_ascii();
    let text = unmarked(came);
    if !text.starts_with(b"{") && !text.starts_with(b"[") {
        return None;
    }
    let read: Result<Json, _> = serde_json::from_slice(text);
    let mut is_changed = read.is_err() || text.len() < came.len();
    match read.or_else(|_| serde_json::from_str(&whole_characters(text))) {
        Ok(Json::Array(messages)) => {
            let formed = |message| formed(message, asked, &mut is_changed);
            Some(messages.into_iter().map(formed).collect())
        }
        Ok(value) => {
            let message = formed(value, asked, &mut is_changed);
            let is_answer = message.get("method").is_none() && message.get("id").is_some();
            if is_changed || !is_answer {
                return is_changed.then(|| vec![message]);
            }
            // The value does not show what the text says twice.
            let read: Result<ServerJsonRpcMessage, _> = serde_json::from_slice(text);
            let why = |error| format!("it names a member twice, or in a form that it cannot have: {error}");
            read.err().map(|error| vec![unreadable(&message["id"], &why(error))])
        }
        Err(error) => {
            let why = format!("it is no JSON: {error}");
            // The id of a request of the server is none of ours.
            let id = id(text).filter(|_| member(text, b"\"method\"").is_none());
            Some(id.map(|id| unreadable(&id, &why)).into_iter().collect())
        }
    }
}

/// Replaces what is no UTF-8, and escapes of half a character, by the replacement character.
fn whole_characters(text: &[u8]) -> String {
    joined(marked(&String::from_utf8_lossy(text)).into_owned())
}

/// Brings one message into form, and notes whether that changed it. Whatever is no message stays as
/// it is.
fn formed(message: Json, asked: Option<&Json>, is_changed: &mut bool) -> Json {
    let Json::Object(mut members) = message else {
        return message;
    };
    let has = |member: &str| members.contains_key(member);
    let is_result = has("result") || has("error");
    let is_request = has("method") && !is_result;
    // A server that cannot tell which request it refuses gives no id, or a word in place of it.
    if let Some(asked) = asked.filter(|_| is_result && !members.get("id").is_some_and(is_number)) {
        members.insert("id".to_owned(), asked.clone());
        *is_changed = true;
    }
    let is_answer = !is_request && members.contains_key("id");
    if !is_answer && !is_request {
        return Json::Object(members);
    }
    let version = json!("2.0");
    *is_changed |= members.insert("jsonrpc".to_owned(), version.clone()) != Some(version);
    if !is_answer {
        return Json::Object(members);
    }
    let mut answer = answered(members, is_changed);
    *is_changed |= older::retell(&mut answer) | probe::complete(&mut answer);
    answer
}

/// Says whether an id can be that of a request, which are numbers; some servers give them back as
/// texts.
fn is_number(id: &Json) -> bool {
    id.is_number() || text_number(id).is_some()
}

fn text_number(id: &Json) -> Option<u32> {
    id.as_str()?.parse().ok()
}

fn answered(mut members: Map<String, Json>, is_changed: &mut bool) -> Json {
    *is_changed |= members.remove("method").is_some();
    if let Some(number) = text_number(&members["id"]) {
        members.insert("id".to_owned(), json!(number));
        *is_changed = true;
    }
    let error = members.remove("error");
    match error {
        Some(error) if !error.is_null() => {
            let formed = error_of(error.clone());
            *is_changed |= members.remove("result").is_some() || formed != error;
            members.insert("error".to_owned(), formed);
        }
        nothing if members.contains_key("result") => *is_changed |= nothing.is_some(),
        Some(_) | None => {
            *is_changed = true;
            return unreadable(&members["id"], "it has neither a result nor an error");
        }
    }
    Json::Object(members)
}

/// Gives an error a code and a message.
fn error_of(error: Json) -> Json {
    let mut members = match error {
        Json::Object(members) => members,
        Json::String(said) => Map::from_iter([("message".to_owned(), Json::String(said))]),
        other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_)) => {
            Map::from_iter([("message".to_owned(), Json::String(other.to_string()))])
        }
    };
    let code = members.get("code").and_then(Json::as_i64);
    if code.is_none_or(|code| i32::try_from(code).is_err()) {
        members.insert("code".to_owned(), json!(ErrorCode::INTERNAL_ERROR.0));
    }
    if !members.get("message").is_some_and(Json::is_string) {
        members.insert("message".to_owned(), json!("it says no more"));
    }
    Json::Object(members)
}

/// Finds the id of a message that is no JSON: the member of the outermost object.
pub(crate) fn id(text: &[u8]) -> Option<Json> {
    first_atom(member(text, b"\"id\"")?)
}

/// Finds what follows the name of a member of the outermost object.
fn member<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = end_of_string(text, at + 1);
                let value = text[end..].trim_ascii_start().strip_prefix(b":");
                if depth == 1 && text[at..end] == *name && value.is_some() {
                    return value;
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns where a string ends, after its last quote.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn first_atom(text: &[u8]) -> Option<Json> {
    let text = text.trim_ascii_start();
    let end = text
        .iter()
        .position(|byte| matches!(byte, b',' | b'}'))
        .unwrap_or(text.len());
    let found: Json = serde_json::from_slice(text[..end].trim_ascii_end()).ok()?;
    (found.is_number() || found.is_string()).then_some(found)
}

/// The lines of a program, each brought into form.
pub(super) struct Lines<R> {
    output: R,
    /// The beginning of a line.
    line: Vec<u8>,
    /// Bytes for the reader, and how many of them it has taken.
    ready: (Vec<u8>, usize),
}

impl<R> Lines<R> {
    pub(super) fn new(output: R) -> Self {
        Self {
            output,
            line: Vec::new(),
            ready: (Vec::new(), 0),
        }
    }

    /// Takes bytes, and passes whole lines on.
    fn take(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.line.extend(&bytes[..=end]);
            bytes = &bytes[end + 1..];
            match mended(&self.line, None) {
                None => self.ready.0.append(&mut self.line),
                Some(messages) => {
                    for message in messages {
                        self.ready.0.extend(message.to_string().into_bytes());
                        self.ready.0.push(b'\n');
                    }
                    self.line.clear();
                }
            }
        }
        self.line.extend(bytes);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.ready.1 == this.ready.0.len() {
            this.ready = (Vec::new(), 0);
            let mut chunk = [0; CHUNK_BYTES];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.output).poll_read(context, &mut read))?;
            match read.filled() {
                // The last line may have no end; half of one says nothing.
                [] if serde_json::from_slice::<Json>(&this.line).is_err() => return Poll::Ready(Ok(())),
                [] => this.take(b"\n"),
                came => this.take(came),
            }
        }
        let (bytes, taken) = &mut this.ready;
        let count = buffer.remaining().min(bytes.len() - *taken);
        buffer.put_slice(&bytes[*taken..*taken + count]);
        *taken += count;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requires that a text becomes these messages; `None` if it stays as it is.
    #[track_caller]
    fn check(text: &str, expected: Option<&[Json]>) {
        assert_eq!(mended(text.as_bytes(), None).as_deref(), expected, "{text}");
    }

    fn unread(why: &str) -> Json {
        unreadable(&json!(3), why)
    }

    #[test]
    fn messages_in_form_and_lines_that_are_none_stay() {
        for text in [
            r#"{"jsonrpc":"2.0","id":3,"result":{"a":"\ud83d\ude00 \\ud83d"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
            "INFO: listening",
            "",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn answers_in_other_forms_become_answers() {
        let answer = |result: Json| json!({ "jsonrpc": "2.0", "id": 3, "result": result });
        let error = |code: i32, says: &str| {
            let error = json!({ "code": code, "message": says });
            json!({ "jsonrpc": "2.0", "id": 3, "error": error })
        };
        for (text, expected) in [
            (r#"{"id":3,"result":1}"#, answer(json!(1))),
            (r#"{"jsonrpc":"2.0","id":"3","result":1}"#, answer(json!(1))),
            (r#"{"jsonrpc":"2.0","id":3,"result":1,"error":null}"#, answer(json!(1))),
            (
                r#"{"jsonrpc":"2.0","id":3,"result":"a \ud83d b"}"#,
                answer(json!("a \u{fffd} b")),
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"result":"\ude00\ud83d\ud83d\ude00"}"#,
                answer(json!("\u{fffd}\u{fffd}😀")),
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"result":null,"error":"no"}"#,
                error(-32603, "no"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":"E1"}}"#,
                error(-32603, "it says no more"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":3}"#,
                unread("it has neither a result nor an error"),
            ),
        ] {
            check(text, Some(&[expected]));
        }
        assert_eq!(
            mended(b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"\xe4\"}", None),
            Some(vec![answer(json!("\u{fffd}"))])
        );
    }

    #[test]
    fn an_answer_that_is_no_json_becomes_an_error_for_its_request() {
        let found = mended(
            br#"{"result":{"id":5,"x":NaN,"s":"\"id\":9"}, "id" : 3 , "jsonrpc":"2.0"}"#,
            None,
        )
        .unwrap();
        assert_eq!((found.len(), &found[0]["id"]), (1, &json!(3)));
        assert!(is_unreadable(found[0]["error"].get("data")), "{found:?}");
        check("{\"a\": NaN}", Some(&[]));
        check("{\"id\": 3, \"method\": \"ping\", \"params\": NaN}", Some(&[]));
        check("{'id': 3}", Some(&[]));
    }

    #[test]
    fn an_answer_that_says_something_twice_is_an_error_for_its_request() {
        for text in [
            r#"{"jsonrpc":"2.0","id":3,"result":{},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"a","message":"b"}}"#,
        ] {
            let found = mended(text.as_bytes(), None).unwrap();
            assert_eq!((found.len(), &found[0]["id"]), (1, &json!(3)), "{text}");
            let message = found[0]["error"]["message"].as_str().unwrap();
            assert!(is_unreadable(found[0]["error"].get("data")), "{text}");
            assert!(message.starts_with("it names a member twice"), "{message}");
        }
        let said = r#"{"jsonrpc":"2.0","id":3,"method":null,"result":1}"#;
        check(said, Some(&[json!({ "jsonrpc": "2.0", "id": 3, "result": 1 })]));
    }

    #[test]
    fn what_comes_as_the_response_to_a_request_answers_it() {
        let error = json!({ "code": -32000, "message": "no session" });
        let expected = json!({ "jsonrpc": "2.0", "id": 3, "error": error });
        for id in [json!(null), json!("server-error"), json!(false), json!("3")] {
            let text = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
            let found = mended(text.as_bytes(), Some(&json!(3)));
            assert_eq!(found, Some(vec![expected.clone()]), "{id}");
        }
        let bare = json!({ "jsonrpc": "2.0", "error": error }).to_string();
        assert_eq!(mended(bare.as_bytes(), Some(&json!(3))), Some(vec![expected]));
        assert_eq!(mended(bare.as_bytes(), None), None);
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} }).to_string();
        assert_eq!(mended(note.as_bytes(), Some(&json!(3))), None);
    }

    #[test]
    fn a_batch_becomes_its_messages() {
        let said = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {} });
        let answer = json!({ "jsonrpc": "2.0", "id": 3, "result": {} });
        check(&json!([said, answer]).to_string(), Some(&[said, answer]));
    }

    #[tokio::test]
    async fn lines_come_out_whole_however_they_are_cut() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let text = "noise\n{\"id\":1,\"result\":2}\n[]\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":3}\n{\"id\":4}";
        let expected =
            "noise\n{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":2}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":3}\n";
        for size in [1, 7, 1000] {
            let (mut program, output) = tokio::io::duplex(size);
            let said = tokio::spawn(async move { program.write_all(text.as_bytes()).await });
            let mut came = String::new();
            Lines::new(output).read_to_string(&mut came).await.unwrap();
            said.await.unwrap().unwrap();
            let last = came.split_off(expected.len());
            assert!(
                came == expected && last.contains("neither a result nor an error"),
                "{size}: {came}{last}"
            );
        }
    }
}
