//! How replies end: cut off, refused, unfinished, for reasons that nobody knows, or with pieces
//! that the provider left out.

use super::*;

fn member(result: &IOValue, name: &str) -> IOValue {
    let mut entries = result.as_dictionary().unwrap();
    let found = entries.find(|(key, _)| key.as_symbol().is_some_and(|key| key == name));
    found.unwrap().1.into()
}

/// A whole answer with one call that has these arguments and, in words of the protocol, ends so.
fn with_call(protocol: Protocol, arguments: &Json, end: &str) -> Json {
    match protocol {
        Protocol::OpenaiChat => {
            let function = json!({"name": "look", "arguments": arguments});
            let calls = json!([{"id": "a", "type": "function", "function": function}]);
            json!({"choices": [{"message": {"content": null, "tool_calls": calls}, "finish_reason": end}]})
        }
        Protocol::OpenaiResponses => {
            let call = json!({"type": "function_call", "call_id": "a", "name": "look", "arguments": arguments});
            let (status, reason) = end.split_once('/').unwrap_or((end, ""));
            json!({"status": status, "incomplete_details": {"reason": reason}, "output": [call]})
        }
        Protocol::Anthropic => {
            let block = json!({"type": "tool_use", "id": "a", "name": "look", "input": arguments});
            json!({"content": [block], "stop_reason": end})
        }
    }
}

fn asked(protocol: Protocol, answer: Vec<u8>) -> Outcome {
    let server = Server::start(vec![answer]);
    call(server.provider(protocol), SHORT)
}

#[test]
fn a_reply_with_calls_that_was_cut_or_refused_says_so_in_every_protocol() {
    let object = |protocol| match protocol {
        Protocol::Anthropic => json!({"a": 1}),
        Protocol::OpenaiChat | Protocol::OpenaiResponses => json!("{\"a\": 1}"),
    };
    for (protocol, end, stop) in [
        (Protocol::OpenaiChat, "length", "length"),
        (Protocol::OpenaiChat, "model_length", "length"),
        (Protocol::OpenaiChat, "MAX_TOKENS", "length"),
        (Protocol::OpenaiChat, "content_filter", "refused"),
        (Protocol::OpenaiChat, "SAFETY", "refused"),
        (Protocol::OpenaiChat, "tool_calls", "tools"),
        (Protocol::OpenaiChat, "stop", "tools"),
        (Protocol::OpenaiResponses, "incomplete/max_output_tokens", "length"),
        (Protocol::OpenaiResponses, "incomplete/content_filter", "refused"),
        (Protocol::OpenaiResponses, "incomplete/", "length"),
        (Protocol::OpenaiResponses, "completed", "tools"),
        (Protocol::Anthropic, "max_tokens", "length"),
        (Protocol::Anthropic, "model_context_window_exceeded", "length"),
        (Protocol::Anthropic, "refusal", "refused"),
        (Protocol::Anthropic, "tool_use", "tools"),
    ] {
        let result = asked(protocol, whole(&with_call(protocol, &object(protocol), end))).unwrap();
        assert_eq!(
            member(&result, "stop"),
            IOValue::new(stop.to_owned()),
            "{protocol:?}, {end}"
        );
    }
}

#[test]
fn a_reason_that_nobody_knows_is_no_end() {
    for (protocol, end) in [
        (Protocol::OpenaiChat, "whim"),
        (Protocol::Anthropic, "pause_turn"),
        (Protocol::OpenaiResponses, "queued"),
        (Protocol::OpenaiResponses, "in_progress"),
        (Protocol::OpenaiResponses, "incomplete/weird"),
        (Protocol::OpenaiResponses, "incomplete/stop"),
    ] {
        let failure = asked(protocol, whole(&with_call(protocol, &Json::Null, end))).unwrap_err();
        assert_eq!(failure.kind, "bad-result", "{end}");
        let word = end.trim_start_matches("incomplete/");
        assert!(failure.message.contains(&format!("`{word}`")), "{failure:?}");
    }
    let nothing = asked(Protocol::Anthropic, whole(&json!({"content": [], "stop_reason": null}))).unwrap_err();
    assert_eq!(nothing.kind, "bad-result");
}

#[test]
fn a_response_that_has_failed_is_not_asked_for_again() {
    for status in ["failed", "cancelled"] {
        let event = |response: &Json| {
            let event = json!({"type": format!("response.{status}"), "response": response});
            stream(&format!("data: {event}\n\n"))
        };
        for error in [json!(null), json!({"code": "server_error", "message": "it broke"})] {
            let response = json!({"status": status, "error": error, "output": []});
            let unnamed = json!({"error": error});
            for answer in [whole(&response), event(&response), event(&unnamed)] {
                // The server gives one answer: another request would fail otherwise.
                let failure = asked(Protocol::OpenaiResponses, answer).unwrap_err();
                assert_eq!(failure.kind, "failed", "{failure:?}");
                assert!(
                    failure.message.contains(&format!("the status `{status}`")),
                    "{failure:?}"
                );
                assert_eq!(failure.message.contains("it broke"), !error.is_null(), "{failure:?}");
            }
        }
    }
}

#[test]
fn a_key_that_is_refused_in_an_answer_is_denied() {
    for error in [
        json!({"type": "authentication_error", "message": "bad key"}),
        json!({"type": "permission_error", "message": "bad key"}),
        json!({"type": "invalid_request_error", "code": "invalid_api_key", "message": "bad key"}),
        json!({"code": 401, "message": "bad key"}),
        json!({"code": 403, "message": "bad key"}),
    ] {
        for protocol in Protocol::ALL {
            let failure = asked(protocol, whole(&json!({"error": error}))).unwrap_err();
            assert_eq!(failure.kind, "denied", "{protocol:?}, {error}: {failure:?}");
            assert!(failure.message.contains("bad key; `duet providers`"), "{failure:?}");
        }
    }
}

#[test]
fn arguments_are_completed_in_every_protocol() {
    for protocol in Protocol::ALL {
        for (arguments, expected) in [
            (json!(""), "{}"),
            (json!(null), "{}"),
            (json!("null"), "{}"),
            (json!({"a": 1}), "{a: 1}"),
            (json!("{\"a\": 1}"), "{a: 1}"),
            (json!("{\"a\": 1e400}"), r#""{\"a\": 1e400}""#),
            (json!("{\"a\": "), r#""{\"a\": ""#),
        ] {
            let end = match protocol {
                Protocol::OpenaiChat => "stop",
                Protocol::OpenaiResponses => "completed",
                Protocol::Anthropic => "tool_use",
            };
            let result = asked(protocol, whole(&with_call(protocol, &arguments, end))).unwrap();
            let expected = format!("[{{id: \"a\", name: \"look\", arguments: {expected}}}]");
            assert_eq!(
                member(&result, "tool_calls"),
                expected.parse().unwrap(),
                "{protocol:?}, {arguments}"
            );
        }
    }
}

#[test]
fn a_call_of_responses_without_an_id_gets_one() {
    let answer = json!({"status": "completed", "output": [{"type": "function_call", "name": "look"}]});
    let result = asked(Protocol::OpenaiResponses, whole(&answer)).unwrap();
    let expected = "[{id: \"call_0\", name: \"look\", arguments: {}}]";
    assert_eq!(member(&result, "tool_calls"), expected.parse().unwrap());
}

#[test]
fn a_stream_of_responses_whose_last_event_is_empty_keeps_its_items() {
    let events = |events: &[Json]| -> String { events.iter().map(|event| format!("data: {event}\n\n")).collect() };
    let said = json!({"type": "message", "content": [{"type": "output_text", "text": "hello"}]});
    let item = |kind: &str, place: u64, item: &Json| json!({"type": kind, "output_index": place, "item": item});
    let call =
        |arguments: &str| json!({"type": "function_call", "call_id": "c", "name": "look", "arguments": arguments});
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "hello"});
    let arguments =
        json!({"type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{\"a\":1}"});
    let called = "[{id: \"c\", name: \"look\", arguments: {a: 1}}]";
    for end in [
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}}),
        json!({"type": "response.completed", "response": {"output": null}}),
        json!({"type": "response.completed"}),
    ] {
        for (pieces, calls) in [
            (vec![item("response.output_item.done", 0, &said)], "[]"),
            (vec![delta.clone()], "[]"),
            (
                vec![
                    item("response.output_item.done", 1, &call("{\"a\":1}")),
                    item("response.output_item.done", 0, &said),
                ],
                called,
            ),
            (
                vec![
                    delta.clone(),
                    item("response.output_item.added", 1, &call("")),
                    arguments.clone(),
                ],
                called,
            ),
        ] {
            let pieces: Vec<Json> = pieces.into_iter().chain([end.clone()]).collect();
            let result = asked(Protocol::OpenaiResponses, stream(&events(&pieces))).unwrap();
            assert_eq!(
                member(&result, "content"),
                IOValue::new("hello".to_owned()),
                "{pieces:?}"
            );
            assert_eq!(member(&result, "tool_calls"), calls.parse().unwrap(), "{pieces:?}");
        }
    }
}

#[test]
fn items_without_a_place_are_each_kept() {
    let item = |kind: &str, item: Json| json!({"type": format!("response.output_item.{kind}"), "item": item});
    let call = |id: &str, x: u8| json!({"type": "function_call", "call_id": id, "name": "look", "arguments": x});
    let begun = |id: &str, call: &str| {
        let names = json!({"type": "function_call", "name": "look", "id": id, "call_id": call});
        item("added", names)
    };
    let ended = |id: &str, x: &str| {
        let kind = "response.function_call_arguments.done";
        json!({"type": kind, "item_id": id, "arguments": x})
    };
    let both = r#"[{id: "a", name: "look", arguments: "1"} {id: "b", name: "look", arguments: "2"}]"#;
    for pieces in [
        vec![item("done", call("a", 1)), item("done", call("b", 2))],
        vec![
            begun("i", "a"),
            item("done", call("a", 1)),
            begun("j", "b"),
            item("done", call("b", 2)),
        ],
        vec![begun("i", "a"), begun("j", "b"), ended("i", "1"), ended("j", "2")],
        vec![begun("", "a"), ended("", "1"), begun("", "b"), ended("", "2")],
    ] {
        let end = json!({"type": "response.completed", "response": {"output": []}});
        let all = pieces.iter().chain([&end]);
        let events: String = all.map(|event| format!("data: {event}\n\n")).collect();
        let result = asked(Protocol::OpenaiResponses, stream(&events)).unwrap();
        assert_eq!(member(&result, "tool_calls"), both.parse().unwrap(), "{pieces:?}");
    }
}

#[test]
fn blocks_without_an_index_are_each_kept() {
    let begun = |id: &str| {
        let block = json!({"type": "tool_use", "id": id, "name": "look", "input": {}});
        json!({"type": "content_block_start", "content_block": block})
    };
    let more = |text: &str| json!({"type": "content_block_delta", "delta": {"partial_json": text}});
    let events: String = [
        begun("a"),
        more("{\"x\": "),
        more("1}"),
        begun("b"),
        more("{\"x\": 2}"),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(|event| format!("data: {event}\n\n"))
    .collect();
    let result = asked(Protocol::Anthropic, stream(&events)).unwrap();
    let both = r#"[{id: "a", name: "look", arguments: {x: 1}} {id: "b", name: "look", arguments: {x: 2}}]"#;
    assert_eq!(member(&result, "tool_calls"), both.parse().unwrap());
}

#[test]
fn a_response_with_an_item_that_was_broken_off_is_cut() {
    for (status, stop) in [
        ("incomplete", "length"),
        ("completed", "tools"),
        ("in_progress", "tools"),
    ] {
        let call =
            json!({"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}", "status": status});
        let response = json!({"status": "completed", "output": [call]});
        let event = json!({"type": "response.completed", "response": response});
        for answer in [whole(&response), stream(&format!("data: {event}\n\n"))] {
            let result = asked(Protocol::OpenaiResponses, answer).unwrap();
            assert_eq!(member(&result, "stop"), IOValue::new(stop.to_owned()), "{status}");
        }
    }
}

#[test]
fn an_event_that_is_or_has_an_error_says_what_is_wrong() {
    let error = json!({"type": "invalid_request_error", "code": "context_length_exceeded", "message": "too long"});
    let mut flat = error.clone();
    flat["type"] = json!("error");
    let nested = json!({"type": "error", "error": error});
    for (protocol, event) in [
        (Protocol::OpenaiResponses, &flat),
        (Protocol::OpenaiResponses, &nested),
        (Protocol::Anthropic, &nested),
        (Protocol::OpenaiChat, &nested),
    ] {
        // The server gives one answer: another request would fail otherwise.
        let failure = asked(protocol, stream(&format!("data: {event}\n\n"))).unwrap_err();
        let said = (&*failure.kind, &*failure.message);
        assert_eq!(
            said,
            ("bad-argument", "the provider `local` fails: too long"),
            "{event}"
        );
    }
}

#[test]
fn half_of_a_character_in_a_whole_answer_costs_no_reply() {
    for (protocol, body) in [
        (
            Protocol::OpenaiChat,
            r#"{"choices":[{"message":{"content":"cut \ud83d"},"finish_reason":"stop"}]}"#,
        ),
        (
            Protocol::OpenaiResponses,
            r#"{"status":"completed","output":[{"type":"message","content":[{"text":"cut \ud83d"}]}]}"#,
        ),
        (
            Protocol::Anthropic,
            r#"{"content":[{"type":"text","text":"cut \ud83d"}],"stop_reason":"end_turn"}"#,
        ),
    ] {
        let result = asked(protocol, answered("200 OK", "application/json", body)).unwrap();
        let expected = IOValue::new("cut \u{fffd}".to_owned());
        assert_eq!(member(&result, "content"), expected, "{protocol:?}");
    }
    let refusal = r#"{"error":{"message":"no \ud83d","type":"invalid_request_error"}}"#;
    for status in ["200 OK", "400 Bad Request"] {
        let failure = asked(Protocol::OpenaiChat, answered(status, "application/json", refusal)).unwrap_err();
        assert_eq!(failure.kind, "bad-argument", "{failure:?}");
        assert!(failure.message.ends_with(": no \u{fffd}"), "{failure:?}");
    }
}

#[test]
fn a_byte_order_mark_before_an_answer_is_ignored() {
    let events = "\u{feff}data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n\
                  data: [DONE]\n\n";
    let whole = "\u{feff}{\"choices\":[{\"message\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}";
    for (kind, body) in [
        ("text/event-stream", events),
        ("text/plain", events),
        ("application/json", whole),
    ] {
        let result = asked(Protocol::OpenaiChat, answered("200 OK", kind, body)).unwrap();
        assert_eq!(member(&result, "content"), IOValue::new("hello".to_owned()), "{kind}");
    }
}

#[test]
fn dollars_that_a_provider_reports_are_in_the_usage() {
    let answer =
        |usage: &Json| json!({"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}], "usage": usage});
    let pieces = |usage: &Json| {
        let end = json!({"choices": [{"delta": {"content": "hello"}, "finish_reason": "stop"}]});
        let last = json!({"choices": [], "usage": usage});
        format!("data: {end}\n\ndata: {last}\n\ndata: [DONE]\n\n")
    };
    for (cost, usd) in [
        (json!(0.25), ", usd: 0.25"),
        (json!(0), ", usd: 0.0"),
        (json!(-1), ""),
        (json!("0.25"), ""),
        (json!(null), ""),
    ] {
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "cost": cost});
        let expected: IOValue = format!("{{input_tokens: 10, output_tokens: 5{usd}}}").parse().unwrap();
        for answer in [whole(&answer(&usage)), stream(&pieces(&usage))] {
            let result = asked(Protocol::OpenaiChat, answer).unwrap();
            assert_eq!(member(&result, "usage"), expected, "{cost}");
        }
    }
}

#[test]
fn counts_of_the_cache_stay_if_a_later_event_does_not_repeat_them() {
    let begun = json!({"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7});
    for (later, expected) in [
        (
            json!({"output_tokens": 5}),
            "{input_tokens: 110, output_tokens: 5, cached_tokens: 100}",
        ),
        (
            json!({"input_tokens": 3, "output_tokens": 5}),
            "{input_tokens: 110, output_tokens: 5, cached_tokens: 100}",
        ),
        (
            json!({"input_tokens": 4, "cache_read_input_tokens": 90, "output_tokens": 5}),
            "{input_tokens: 101, output_tokens: 5, cached_tokens: 90}",
        ),
        (
            json!({"cache_read_input_tokens": 90, "output_tokens": 5}),
            "{input_tokens: 100, output_tokens: 5, cached_tokens: 90}",
        ),
    ] {
        let events: String = [
            json!({"type": "message_start", "message": {"usage": begun}}),
            json!({"type": "content_block_start", "content_block": {"type": "text", "text": "hello"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": later}),
            json!({"type": "message_stop"}),
        ]
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
        let result = asked(Protocol::Anthropic, stream(&events)).unwrap();
        assert_eq!(member(&result, "usage"), expected.parse().unwrap(), "{later}");
    }
}
