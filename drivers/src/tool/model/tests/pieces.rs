//! Answers as servers write them that keep to no description of their protocol, and thoughts.

use duet_runtime::driver::ToolFailure;

use super::*;

/// A stream of these events.
fn sse(events: &[&str]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// A conversation in which a tool has been called, after `thoughts`.
fn with_thoughts(thoughts: &str, options: &str) -> String {
    format!(
        r#"{{messages: [{{role: "user", content: "x"}}
              {{role: "assistant", content: "", thoughts: {thoughts},
                tool_calls: [{{id: "c1", name: "look", arguments: {{}}}}]}}
              {{role: "tool", content: "seen", tool_call_id: "c1"}}], options: {options}}}"#
    )
}

fn member(result: &IOValue, name: &str) -> IOValue {
    let mut entries = result.as_dictionary().unwrap();
    let found = entries.find(|(key, _)| key.as_symbol().is_some_and(|key| key == name));
    found.unwrap().1.into()
}

fn thoughts_of(result: &IOValue) -> IOValue {
    member(result, "thoughts")
}

fn content_of(result: &IOValue) -> String {
    member(result, "content").as_string().unwrap().into_owned()
}

#[test]
fn thoughts_come_with_a_reply_and_go_back_with_the_calls() {
    let said = &*sse(&[
        r#"{"type":"message_start","message":{"model":"m"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m."}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xx"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"look"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let server = Server::start(vec![stream(said), stream(said), stream(said)]);
    let provider = || server.provider(Protocol::Anthropic);
    let thoughts = thoughts_of(&call(provider(), SHORT).unwrap());
    let expected = r#"[{type: "thinking", thinking: "Hmm.", signature: "s1"} {type: "redacted_thinking", data: "xx"}]"#;
    assert_eq!(thoughts, expected.parse().unwrap());
    server.body();
    let asked = |options| {
        call(provider(), &with_thoughts(expected, options)).unwrap();
        server.body()["messages"][1]["content"].clone()
    };
    let thinking = json!({"type": "thinking", "thinking": "Hmm.", "signature": "s1"});
    let redacted = json!({"type": "redacted_thinking", "data": "xx"});
    let used = json!({"type": "tool_use", "id": "c1", "name": "look", "input": {}});
    assert_eq!(
        asked("{thinking: {type: \"enabled\"}}"),
        json!([thinking, redacted, used])
    );
    assert_eq!(asked("{thinking: {type: \"disabled\"}}"), json!([used]));
}

#[test]
fn reasoning_comes_back_to_responses_as_it_was() {
    let said = &*sse(&[
        &*json!({ "type": "response.completed", "response": { "status": "completed", "output": [
            { "type": "reasoning", "id": "rs_0", "summary": [] },
            { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e1", "status": null },
            { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}" },
        ] } })
        .to_string(),
    ]);
    let server = Server::start(vec![stream(said), stream(said)]);
    let provider = || server.provider(Protocol::OpenaiResponses);
    let thoughts = thoughts_of(&call(provider(), SHORT).unwrap());
    let expected = r#"[{type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e1"}]"#;
    assert_eq!(thoughts, expected.parse().unwrap());
    assert_eq!(
        server.body().get("include"),
        None,
        "models that do not reason refuse it"
    );
    call(provider(), &with_thoughts(expected, "{reasoning: {effort: \"low\"}}")).unwrap();
    let body = server.body();
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    let back = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e1"});
    assert_eq!(body["input"][1], back);
    assert_eq!(body["input"][2]["type"], "function_call");
}

#[test]
fn reasoning_of_completions_goes_back_only_with_calls() {
    let said = &*sse(&[
        r#"{"choices":[{"delta":{"reasoning_content":"Hm"}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"m.","content":"Yes"},"finish_reason":"stop"}]}"#,
        r#"[DONE]"#,
    ]);
    let server = Server::start(vec![stream(said), stream(said), stream(said)]);
    let provider = || server.provider(Protocol::OpenaiChat);
    let thoughts = thoughts_of(&call(provider(), SHORT).unwrap());
    let expected = r#"[{type: "text", field: "reasoning_content", text: "Hmm."}]"#;
    assert_eq!(thoughts, expected.parse().unwrap());
    server.body();
    call(provider(), &with_thoughts(expected, "{}")).unwrap();
    assert_eq!(server.body()["messages"][1]["reasoning_content"], "Hmm.");
    let later = format!(r#"{{messages: [{{role: "assistant", content: "Yes", thoughts: {expected}}}]}}"#);
    call(provider(), &later).unwrap();
    assert_eq!(
        server.body()["messages"][0],
        json!({"role": "assistant", "content": "Yes"})
    );
}

/// Requires the calls of tools, as ids, names and arguments, in a stream of pieces of calls.
#[track_caller]
fn check_calls(pieces: &[&str], expected: &str) {
    let mut said = String::new();
    for piece in pieces {
        said += &format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{piece}]}}}}]}}\n\n");
    }
    said += "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let server = Server::start(vec![stream(&said)]);
    let result = call(server.provider(Protocol::OpenaiChat), SHORT).unwrap();
    assert_eq!(member(&result, "tool_calls"), expected.parse().unwrap(), "{pieces:?}");
}

#[test]
fn calls_are_told_apart_however_servers_write_them() {
    let two = r#"[{id: "a", name: "price", arguments: {n: 1}} {id: "b", name: "price", arguments: {n: 2}}]"#;
    let one = |index: &str, id: &str, name: &str, arguments: &str| {
        format!("{{{index}\"id\":\"{id}\",\"function\":{{\"name\":\"{name}\",\"arguments\":{arguments}}}}}")
    };
    let [first, second] = ["\"{\\\"n\\\": 1}\"", "\"{\\\"n\\\": 2}\""];
    // Without an index, and with the same one.
    for index in ["", "\"index\":0,"] {
        check_calls(
            &[&one(index, "a", "price", first), &one(index, "b", "price", second)],
            two,
        );
    }
    // In pieces, the name in each.
    let pieces = [
        one("\"index\":0,", "a", "price", "\"{\\\"n\\\"\""),
        one("\"index\":1,", "b", "price", second),
        one("\"index\":0,", "a", "price", "\": 1}\""),
    ];
    check_calls(&[&pieces[0], &pieces[1], &pieces[2]], two);
    // Without ids, and with an object.
    let bare = [one("", "", "price", "{\"n\": 1}"), one("", "", "price", "{\"n\": 2}")];
    let numbered = two.replace("\"a\"", "\"call_0\"").replace("\"b\"", "\"call_1\"");
    check_calls(&[&bare[0], &bare[1]], &numbered);
    for nothing in ["\"\"", "null", "\"null\""] {
        check_calls(
            &[&one("", "a", "now", nothing)],
            r#"[{id: "a", name: "now", arguments: {}}]"#,
        );
    }
}

#[test]
fn an_answer_is_over_when_its_protocol_says_so() {
    let finished = "data: {\"choices\":[{\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"stop\"}]}\n\n";
    let unfinished = "data: {\"choices\":[{\"delta\":{\"content\":\"Yes\"}}]}\n\n";
    for said in [finished, unfinished] {
        // The server would send more.
        let kind = "text/event-stream\r\ncontent-length: 100000";
        let server = Server::start(vec![answered("200 OK", kind, &format!("{said}data: [DONE]\n\n"))]);
        let reply = call(server.provider(Protocol::OpenaiChat), SHORT).unwrap();
        assert_eq!(content_of(&reply), "Yes");
    }
}

#[test]
fn other_forms_of_an_answer_are_understood_or_shown() {
    let content = |body: &str, kind: &str| {
        let server = Server::start(vec![answered("200 OK", kind, body)]);
        let reply = call(server.provider(Protocol::OpenaiChat), SHORT)?;
        Ok::<_, ToolFailure>(content_of(&reply))
    };
    let parts = json!([{ "type": "text", "text": "Y" }, { "type": "text", "text": "es" }]);
    let parts = json!({ "choices": [{ "message": { "content": parts }, "finish_reason": "stop" }] }).to_string();
    let parts = &*parts;
    assert_eq!(content(parts, "application/json").unwrap(), "Yes");
    let stream =
        "data: {\"choices\":[{\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(content(stream, "text/plain").unwrap(), "Yes");
    let page = content("<html>Sign in</html>", "text/html").unwrap_err();
    assert!(
        page.kind == "bad-result" && page.message.ends_with(": <html>Sign in</html>"),
        "{page:?}"
    );
    let error = content(
        r#"{"error":{"code":404,"message":"no such model"}}"#,
        "application/json",
    )
    .unwrap_err();
    assert_eq!(
        (&*error.kind, error.message.contains("no such model")),
        ("bad-argument", true)
    );
}

#[test]
fn a_place_without_a_provider_is_named() {
    let server = Server::start(vec![answered("404 Not Found", "text/plain", "nothing here")]);
    let failure = call(server.provider(Protocol::Anthropic), SHORT).unwrap_err();
    assert!(
        failure.message.contains("/base/v1/messages: nothing here"),
        "{failure:?}"
    );
}

#[test]
fn a_character_that_is_cut_between_two_pieces_comes_out_whole() {
    let said = sse(&[
        r#"{"choices":[{"delta":{"content":"Hi \ud83d"}}]}"#,
        r#"{"choices":[{"delta":{"content":"\udc4b"},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    let server = Server::start(vec![stream(&said)]);
    let reply = call(server.provider(Protocol::OpenaiChat), SHORT).unwrap();
    assert_eq!(content_of(&reply), "Hi 👋");
}

#[test]
fn what_signs_a_call_goes_back_with_it() {
    let signed = r#"{"id":"c1","function":{"name":"look","arguments":"{}"},"extra_content":{"google":{"s":"x"}}}"#;
    let said = sse(&[
        &format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{signed}]}},"finish_reason":"tool_calls"}}]}}"#),
        "[DONE]",
    ]);
    let server = Server::start(vec![stream(&said), stream(&said)]);
    let provider = || server.provider(Protocol::OpenaiChat);
    let thoughts = thoughts_of(&call(provider(), SHORT).unwrap());
    let expected = r#"[{type: "call", id: "c1", extra_content: {google: {s: "x"}}}]"#;
    assert_eq!(thoughts, expected.parse().unwrap());
    server.body();
    call(provider(), &with_thoughts(expected, "{}")).unwrap();
    let back = server.body()["messages"][1]["tool_calls"][0].clone();
    assert_eq!(back["extra_content"], json!({"google": {"s": "x"}}));
}

#[test]
fn a_key_stands_in_the_header_that_the_configuration_names() {
    let server = Server::start(vec![stream("data: [DONE]\n\n")]);
    let mut provider = server.provider(Protocol::OpenaiChat);
    provider.headers.name_key("api-key").unwrap();
    provider.headers.add("X-Desk", "north").unwrap();
    assert!(provider.headers.add("Host", "north").is_err());
    let _incomplete = call(provider, SHORT);
    let request = server.requests.recv().unwrap().to_ascii_lowercase();
    assert!(
        request.contains("api-key: key-123\r\n") && request.contains("x-desk: north\r\n"),
        "{request}"
    );
    assert!(!request.contains("authorization"), "{request}");
}
