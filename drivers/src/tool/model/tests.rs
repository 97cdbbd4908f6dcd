//! Exchanges with servers of this process that speak the protocols byte for byte.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; servers are threads"
)]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value as Json, json};

use super::*;
use crate::tool::interface::Outcome;

mod ends;
mod pieces;

/// A server that gives prepared answers, each to a connection of its own.
struct Server {
    port: u16,
    requests: Receiver<String>,
}

impl Server {
    fn start(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                sender.send(request(&mut stream)).unwrap();
                // A caller that has heard enough closes the connection.
                let _ = stream.write_all(&answer);
            }
        });
        Self { port, requests }
    }

    fn provider(&self, protocol: Protocol) -> Provider {
        Provider {
            model: Some("small".to_owned()),
            delay_ms: 1,
            timeout_ms: 5000,
            key: Some(Key {
                variable: "THE_KEY".to_owned(),
                value: "key-123".to_owned(),
            }),
            ..Provider::new("local", protocol, format!("http://127.0.0.1:{}/base/", self.port))
        }
    }

    /// Returns the body of the next request.
    fn body(&self) -> Json {
        let request = self.requests.recv().unwrap();
        serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

fn request(stream: &mut TcpStream) -> String {
    let mut asked = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let length = stream.read(&mut chunk).unwrap();
        asked.extend_from_slice(&chunk[..length]);
        let text = String::from_utf8_lossy(&asked).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let head = head.to_ascii_lowercase();
        let wanted = head.split_once("content-length: ").map(|(_, rest)| rest);
        let wanted = wanted.map(|rest| rest.lines().next().unwrap().parse::<usize>().unwrap());
        if length == 0 || wanted.is_some_and(|wanted| body.len() >= wanted) {
            return text;
        }
    }
}

fn call(provider: Provider, payload: &str) -> Outcome {
    let providers = Providers {
        chosen: Some(provider.name.clone()),
        known: [(provider.name.clone(), provider)].into(),
        model: None,
    };
    let context = Context {
        key: "key-1".to_owned(),
        tool: "model/chat".to_owned(),
        ..Context::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(Model::new(providers).call(payload.parse().unwrap(), context))
}

fn answered(status: &str, kind: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

fn stream(events: &str) -> Vec<u8> {
    answered("200 OK", "text/event-stream; charset=utf-8", events)
}

fn whole(body: &Json) -> Vec<u8> {
    answered("200 OK", "application/json", &body.to_string())
}

/// A conversation with everything that a message can have.
const CONVERSATION: &str = r##"{
    messages: [{role: "system", content: "Be brief."}
               {role: "user", content: [{type: "text", text: "What is this?"}
                                        {type: "image", media_type: "image/png", data: #"abc"}]}
               {role: "assistant", content: "", tool_calls: [{id: "c1", name: "look/up", arguments: {word: "cup"}}]}
               {role: "tool", tool_call_id: "c1", content: "a cup"}
               {role: "user", content: "And its price?"}],
    tools: [{name: "look/up", description: "Looks up.", schema: {type: "object"}}],
    schema: {type: "string"},
    options: {max_tokens: 100, stop: ["."], temperature: 0.5}
}"##;

/// The result of each protocol's answer below.
const RESULT: &str = r#"{content: "Two: é", model: "small-2", stop: "tools",
    tool_calls: [{id: "c2", name: "look/up", arguments: {word: "saucer"}}
                 {id: "c3", name: "look/up", arguments: {}}],
    usage: {input_tokens: 61, output_tokens: 30, cached_tokens: 5}}"#;

#[track_caller]
fn check(protocol: Protocol, answer: Vec<u8>) -> (String, Json) {
    let server = Server::start(vec![answer]);
    let result = call(server.provider(protocol), CONVERSATION).unwrap();
    assert_eq!(result, RESULT.parse().unwrap());
    let request = server.requests.recv().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase(), serde_json::from_str(body).unwrap())
}

#[test]
fn chat_completions() {
    let piece = |delta: Json| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let part = |index: u64, id: Option<&str>, arguments: &str| {
        let name = id.map(|_| "look_up");
        let function = json!({"name": name, "arguments": arguments});
        piece(json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}))
    };
    let usage = json!({"prompt_tokens": 61, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 5}});
    let first = json!({"role": "assistant", "content": "Two: "});
    let pieces = [
        json!({"model": "small-2", "choices": [{"delta": first}]}),
        piece(json!({"content": "é"})),
        part(0, Some("c2"), ""),
        part(1, Some("c3"), "{}"),
        part(0, None, "{\"word\": "),
        part(0, None, "\"saucer\"}"),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": usage}),
    ];
    let events: String = pieces.iter().map(|piece| format!("data: {piece}\n\n")).collect();
    let events = &format!("{events}data: [DONE]\n\n");
    let (head, body) = check(Protocol::OpenaiChat, stream(events));
    assert!(head.starts_with("post /base/chat/completions http/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: bearer key-123"), "{head}");
    let function = json!({"name": "look_up", "arguments": "{\"word\":\"cup\"}"});
    let expected = json!({
        "model": "small", "stream": true, "stream_options": {"include_usage": true},
        "max_tokens": 100, "stop": ["."], "temperature": 0.5,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,YWJj"}},
            ]},
            {"role": "assistant", "content": null,
             "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "c1", "content": "a cup"},
            {"role": "user", "content": "And its price?"},
        ],
        "tools": [{"type": "function", "function":
            {"name": "look_up", "description": "Looks up.", "parameters": {"type": "object"}}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": {"type": "string"}}},
    });
    assert_eq!(body, expected);

    let asked = |id: &str, arguments: &str| {
        let function = json!({"name": "look_up", "arguments": arguments});
        json!({"id": id, "type": "function", "function": function})
    };
    let message = json!({"role": "assistant", "content": "Two: é",
        "tool_calls": [asked("c2", "{\"word\":\"saucer\"}"), asked("c3", "{}")]});
    check(
        Protocol::OpenaiChat,
        whole(&json!({
            "model": "small-2", "choices": [{"message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 61, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 5}},
        })),
    );
}

#[test]
fn responses() {
    let response = json!({
        "model": "small-2", "status": "completed", "error": null, "incomplete_details": null,
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "content": [{"type": "output_text", "text": "Two: é"}]},
            {"type": "function_call", "call_id": "c2", "name": "look_up", "arguments": "{\"word\":\"saucer\"}"},
            {"type": "function_call", "call_id": "c3", "name": "look_up", "arguments": "{}"},
        ],
        "usage": {"input_tokens": 61, "output_tokens": 30, "input_tokens_details": {"cached_tokens": 5}},
    });
    let events = format!(
        "event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{{}}}}\n\n\
         event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"delta\":\"Two\"}}\n\n\
         event: response.completed\ndata: {}\n\n",
        json!({"type": "response.completed", "response": response})
    );
    let (head, body) = check(Protocol::OpenaiResponses, stream(&events));
    assert!(head.starts_with("post /base/responses http/1.1\r\n"), "{head}");
    let expected = json!({
        "model": "small", "stream": true, "store": false,
        "max_output_tokens": 100, "stop": ["."], "temperature": 0.5,
        "input": [
            {"role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
            {"role": "user", "content": [
                {"type": "input_text", "text": "What is this?"},
                {"type": "input_image", "image_url": "data:image/png;base64,YWJj"},
            ]},
            {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": "{\"word\":\"cup\"}"},
            {"type": "function_call_output", "call_id": "c1", "output": "a cup"},
            {"role": "user", "content": [{"type": "input_text", "text": "And its price?"}]},
        ],
        "tools": [{"type": "function", "name": "look_up", "description": "Looks up.",
                   "parameters": {"type": "object"}, "strict": false}],
        "text": {"format": {"type": "json_schema", "name": "reply", "schema": {"type": "string"}, "strict": false}},
    });
    assert_eq!(body, expected);
    check(Protocol::OpenaiResponses, whole(&response));
}

#[test]
fn messages() {
    let event = |data: Json| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let begin = json!({"type": "message_start", "message": {"model": "small-2", "content": [],
        "usage": {"input_tokens": 50, "cache_read_input_tokens": 5,
                  "cache_creation_input_tokens": 6, "output_tokens": 1}}});
    let tool = |index: u64, id: &str| {
        json!({"type": "content_block_start", "index": index,
               "content_block": {"type": "tool_use", "id": id, "name": "look_up", "input": {}}})
    };
    let delta = |index: u64, delta: Json| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let events: String = [
        begin,
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        delta(0, json!({"type": "text_delta", "text": "Two: "})),
        delta(0, json!({"type": "text_delta", "text": "é"})),
        json!({"type": "content_block_stop", "index": 0}),
        tool(1, "c2"),
        delta(1, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            1,
            json!({"type": "input_json_delta", "partial_json": "{\"word\": \"sau"}),
        ),
        delta(1, json!({"type": "input_json_delta", "partial_json": "cer\"}"})),
        tool(2, "c3"),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 30}}),
        json!({"type": "message_stop"}),
    ]
    .into_iter()
    .map(event)
    .collect();
    let (head, body) = check(Protocol::Anthropic, stream(&events));
    assert!(head.starts_with("post /base/v1/messages http/1.1\r\n"), "{head}");
    assert!(
        head.contains("x-api-key: key-123") && head.contains("anthropic-version: 2023-06-01"),
        "{head}"
    );
    let expected = json!({
        "model": "small", "stream": true, "max_tokens": 100, "stop_sequences": ["."], "temperature": 0.5,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YWJj"}},
            ]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"word": "cup"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "a cup"},
                {"type": "text", "text": "And its price?"},
            ]},
        ],
        "tools": [{"name": "look_up", "description": "Looks up.", "input_schema": {"type": "object"}}],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "string"}}},
    });
    assert_eq!(body, expected);

    let block = |id: &str, input: Json| json!({"type": "tool_use", "id": id, "name": "look_up", "input": input});
    check(
        Protocol::Anthropic,
        whole(&json!({
            "model": "small-2", "stop_reason": "tool_use",
            "content": [
                {"type": "text", "text": "Two: é"}, block("c2", json!({"word": "saucer"})), block("c3", json!({})),
            ],
            "usage": {"input_tokens": 56, "cache_read_input_tokens": 5, "output_tokens": 30},
        })),
    );
}

const SHORT: &str = r#"{messages: [{role: "user", content: "Hello"}]}"#;

fn completion(content: &str, reason: &str) -> Vec<u8> {
    whole(&json!({"model": "small-2", "choices": [{"message": {"content": content}, "finish_reason": reason}]}))
}

#[test]
fn the_first_choice_is_the_reply() {
    let pieces = [(1, "other"), (0, "Hel"), (0, "lo!")].map(|(index, text)| {
        let choice = json!({"index": index, "delta": {"content": text}, "finish_reason": null});
        let piece = json!({"model": "small-2", "choices": [choice]});
        format!("data: {piece}\n\n")
    });
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let choice =
        |index: u32, content: &str| json!({"index": index, "message": {"content": content}, "finish_reason": "stop"});
    let both = json!({"model": "small-2", "choices": [choice(1, "other"), choice(0, "Hello!")]});
    for answer in [stream(&(pieces.concat() + end)), whole(&both)] {
        let server = Server::start(vec![answer]);
        let result = call(server.provider(Protocol::OpenaiChat), SHORT).unwrap();
        let expected = r#"{content: "Hello!", model: "small-2", stop: "end", tool_calls: [],
                           usage: {input_tokens: 0, output_tokens: 0}}"#;
        assert_eq!(result, expected.parse().unwrap());
    }
}

#[test]
fn a_provider_that_is_busy_is_asked_again() {
    let limited = answered(
        "429 Too Many Requests\r\nretry-after: 0",
        "application/json",
        "{\"error\":{\"message\":\"slow\"}}",
    );
    let answers = vec![
        limited,
        answered("529 Overloaded", "text/plain", "overloaded"),
        stream("data: {\"error\":{\"message\":\"overloaded\",\"type\":\"overloaded_error\"}}\n\n"),
        stream("data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"),
        completion("Hello!", "stop"),
    ];
    let server = Server::start(answers);
    let result = call(server.provider(Protocol::OpenaiChat), SHORT).unwrap();
    let expected = r#"{content: "Hello!", model: "small-2", stop: "end", tool_calls: [],
                       usage: {input_tokens: 0, output_tokens: 0}}"#;
    assert_eq!(result, expected.parse().unwrap());
    let bodies: Vec<Json> = (0..5).map(|_| server.body()).collect();
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
}

#[test]
fn failures_have_kinds_and_say_what_the_provider_said() {
    let error = |message: &str, kind: &str| json!({"error": {"message": message, "type": kind}}).to_string();
    let json = "application/json";
    let cases: [(Vec<Vec<u8>>, &str, &str); 6] = [
        (
            vec![answered(
                "401 Unauthorized",
                json,
                &error("bad key", "authentication_error"),
            )],
            "denied",
            "the provider `local` answers 401: bad key; `duet providers` shows which variable holds its key",
        ),
        (
            vec![answered(
                "400 Bad Request",
                json,
                &error("no such model", "invalid_request_error"),
            )],
            "bad-argument",
            "the provider `local` answers 400: no such model",
        ),
        (
            vec![answered("429 Too Many Requests", json, &error("slow down", "rate_limit_error")); 5],
            "rate-limited",
            "the provider `local` answers 429: slow down (at each of 5 attempts)",
        ),
        (
            vec![answered("500 Internal Server Error", "text/html", "<h1>oops</h1>"); 5],
            "unavailable",
            "the provider `local` answers 500: <h1>oops</h1> (at each of 5 attempts)",
        ),
        (
            vec![answered("529 Overloaded", json, &error("too many people", "overloaded_error")); 5],
            "unavailable",
            "the provider `local` answers 529: too many people (at each of 5 attempts)",
        ),
        (
            vec![
                answered(
                    "500 Internal Server Error",
                    "text/event-stream",
                    &format!("data: {}\n\ndata: [DONE]\n\n", error("no stream", "server_error"))
                );
                5
            ],
            "unavailable",
            "the provider `local` answers 500: no stream (at each of 5 attempts)",
        ),
    ];
    check_failures(cases);
}

#[test]
fn answers_that_are_none_have_kinds_and_say_what_is_wrong() {
    let json = "application/json";
    let cases: [(Vec<Vec<u8>>, &str, &str); 5] = [
        (
            vec![stream("data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"); 5],
            "failed",
            "the provider `local` broke off its answer: the stream ended before the reply did (at each of 5 attempts)",
        ),
        (
            vec![stream("data: <html>\n\n")],
            "bad-result",
            "the answer of the provider `local` is not of the protocol openai-chat: an event is no JSON \
             (expected value at line 1 column 1): <html>",
        ),
        (
            vec![answered("200 OK", "text/html", "<html>")],
            "bad-result",
            "the answer of the provider `local` is not of the protocol openai-chat: it is no JSON \
             (expected value at line 1 column 1): <html>",
        ),
        (
            vec![answered("200 OK", json, "{}")],
            "bad-result",
            "the answer of the provider `local` is not of the protocol openai-chat: it has no reply",
        ),
        (
            vec![stream(&format!("data: {}", "x".repeat(17 << 20)))],
            "output-limit",
            "the answer of the provider `local` is longer than 16777216 bytes",
        ),
    ];
    check_failures(cases);
}

/// Requires that a call that receives these answers fails with this kind and message.
#[track_caller]
fn check_failures<const N: usize>(cases: [(Vec<Vec<u8>>, &str, &str); N]) {
    for (answers, kind, message) in cases {
        let server = Server::start(answers);
        let failure = call(server.provider(Protocol::OpenaiChat), SHORT).unwrap_err();
        assert_eq!((&*failure.kind, &*failure.message), (kind, message));
    }
}

#[test]
fn a_provider_that_cannot_be_reached_or_is_silent() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = Provider {
        model: Some("small".to_owned()),
        delay_ms: 1,
        ..Provider::new("local", Protocol::Anthropic, format!("http://127.0.0.1:{free}"))
    };
    assert_eq!(call(nobody, SHORT).unwrap_err().kind, "unavailable");

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = Provider {
        model: Some("small".to_owned()),
        timeout_ms: 20,
        ..Provider::new(
            "local",
            Protocol::Anthropic,
            format!("http://{}", listener.local_addr().unwrap()),
        )
    };
    let failure = call(silent, SHORT).unwrap_err();
    assert_eq!(
        (&*failure.kind, &*failure.message),
        (
            "timeout",
            "the provider `local` gave no whole answer within 20 ms; `timeout_ms` in its configuration gives it more"
        )
    );
}

#[test]
fn what_is_not_configured_is_said() {
    let provider = |model: Option<&str>| Provider {
        model: model.map(str::to_owned),
        ..Provider::new("local", Protocol::OpenaiChat, "http://127.0.0.1:1")
    };
    let failure = call(provider(None), SHORT).unwrap_err();
    assert!(
        failure
            .message
            .starts_with("the provider `local` has no default model:"),
        "{}",
        failure.message
    );
    let payload = r#"{provider: "other", messages: []}"#;
    let failure = call(provider(Some("small")), payload).unwrap_err();
    assert!(
        failure
            .message
            .starts_with("no provider of models is called `other`; there are local;"),
        "{}",
        failure.message
    );
}

#[test]
fn a_reply_that_was_cut_or_refused_says_so() {
    for (reason, stop) in [("length", "length"), ("content_filter", "refused"), ("stop", "end")] {
        let server = Server::start(vec![completion("Hell", reason)]);
        let result = call(server.provider(Protocol::OpenaiChat), SHORT).unwrap();
        let usage = "{input_tokens: 0, output_tokens: 0}";
        let expected =
            format!("{{content: \"Hell\", model: \"small-2\", stop: \"{stop}\", tool_calls: [], usage: {usage}}}");
        assert_eq!(result, expected.parse().unwrap());
    }
}

#[test]
fn an_answer_is_asked_for_whole_if_the_options_say_so() {
    let whole = json!({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}).to_string();
    let server = Server::start(vec![answered("200 OK", "application/json", &whole)]);
    let payload = r#"{messages: [{role: "user", content: "Hi"}], options: {stream: #f}}"#;
    call(server.provider(Protocol::OpenaiChat), payload).unwrap();
    let request = server.requests.recv().unwrap();
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: Json = serde_json::from_str(body).unwrap();
    assert_eq!((&body["stream"], body.get("stream_options")), (&json!(false), None));
}

#[test]
fn a_key_is_in_no_text() {
    let server = Server::start(Vec::new());
    let shown = format!("{:?}", server.provider(Protocol::OpenaiChat));
    assert!(shown.contains("Key(THE_KEY)") && !shown.contains("key-123"), "{shown}");
}
