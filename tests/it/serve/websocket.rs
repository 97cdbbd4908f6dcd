//! Clients that speak WebSocket: packets in messages, pages of the web, and what is no WebSocket.
//!
//! INVARIANT: the client is the library's own; the one of another implementation is in `python.rs`.
//! Read next: `../../drivers/src/serve/websocket.rs`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use preserves::IOValue;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use crate::serve::ROOM;
use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};

/// A server with a port for WebSocket and the usual socket.
fn serve(options: &str) -> (Desk, Served, String) {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let line = format!("serve room.scm --listen ws:127.0.0.1:0 --listen .duet/journal.sqlite.sock {options}");
    let mut served = Served::start(&desk, &line);
    let said = served.said("clients come to ws://");
    let address = said.split("ws://").nth(1).and_then(|rest| rest.split(';').next());
    let address = address.expect("an address").to_owned();
    (desk, served, address)
}

fn connect(address: &str, origin: Option<&str>) -> Result<WebSocket<TcpStream>, String> {
    let headers: Vec<_> = origin.into_iter().map(|origin| ("Origin", origin)).collect();
    connect_with(address, &headers)
}

fn connect_with(address: &str, headers: &[(&'static str, &str)]) -> Result<WebSocket<TcpStream>, String> {
    let stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
    let mut request = format!("ws://{address}/").into_client_request().expect("an address");
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().expect("a header"));
    }
    tungstenite::client(request, stream)
        .map(|(socket, _)| socket)
        .map_err(|error| error.to_string())
}

/// Reads the next message.
fn next(socket: &mut WebSocket<TcpStream>) -> Message {
    socket.read().expect("a message")
}

#[test]
fn a_client_by_websocket_takes_part_in_text_and_in_packed_form() {
    let (desk, served, address) = serve("");
    let reference = grant(&desk, "room");
    let mut watcher = Peer::enter(&desk, duet_drivers::framing::Encoding::Packed, &reference);
    watcher.send("[[1 <A <Observe <group <rec present> {0: <bind <_>>}> #:[0 2]> 2>]]");
    watcher.sync();
    let resolve = format!("[[0 <A <resolve {reference} #:[0 0]> 1>]]");
    // Each packet for it is a message of text; two packets of its own may be in one, or one in two.
    let mut text = connect(&address, None).expect("it is let in");
    text.send(Message::text(resolve.as_str())).expect("it reads");
    let accepted = next(&mut text).into_text().expect("text");
    assert_eq!(accepted.trim(), "[[0, <A <accepted #:[0, 1]> 1>]]");
    text.send(Message::text("[[1 <A <present \"Ada\"> 2>]] [[1 <S "))
        .expect("it reads");
    text.send(Message::text("#:[0 9]>]]")).expect("it reads");
    assert_eq!(next(&mut text).into_text().expect("text").trim(), "[[9, <M #t>]]");
    watcher.expect("2 <A [\"Ada\"] 2>");
    // The end of a message ends a comment, and a packet that is an atom.
    for end in ["#f", "[[1 <M <quiet>>]] # a comment", "#!"] {
        text.send(Message::text(end)).expect("it reads");
        text.send(Message::text("[[1 <S #:[0 9]>]]")).expect("it reads");
        assert_eq!(next(&mut text).into_text().expect("text").trim(), "[[9, <M #t>]]");
    }
    text.close(None).expect("it closes");
    watcher.expect("2 <R 2>");
    // Packed packets are binary messages.
    let mut packed = connect(&address, None).expect("it is let in");
    let packet = |text: &str| {
        let value: IOValue = text.parse().expect("well formed");
        let bytes = duet_drivers::framing::Encoding::Packed.write(&value).expect("small");
        Message::binary(bytes)
    };
    packed.send(packet(&resolve)).expect("it reads");
    assert!(matches!(next(&mut packed), Message::Binary(_)));
    packed.send(packet("[[1 <A <present \"Bob\"> 2>]]")).expect("it reads");
    watcher.expect("2 <A [\"Bob\"] 3>");
    drop(packed);
    watcher.expect("2 <R 3>");
    drop(served);
    desk.replays("room");
}

#[test]
fn a_web_page_comes_in_only_from_an_origin_that_is_named() {
    let (_desk, _served, address) = serve("--origin http://localhost:8080");
    for origin in ["http://evil.example", "null", "http://localhost:80801", ""] {
        let refused = connect(&address, Some(origin)).expect_err("it is refused");
        assert!(refused.contains("403"), "{origin}: {refused}");
    }
    assert!(connect(&address, Some("http://localhost:8080")).is_ok());
    // Whoever is no page names no origin.
    assert!(connect(&address, None).is_ok());
}

#[test]
fn a_page_whose_host_name_leads_here_is_refused_without_an_origin() {
    let (_desk, _served, address) = serve("--origin http://localhost:8080");
    for host in [
        "evil.example",
        "evil.example:8002",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
    ] {
        let refused = connect_with(&address, &[("Host", host)]).expect_err(host);
        assert!(refused.contains("403"), "{host}: {refused}");
    }
    assert!(connect_with(&address, &[("Sec-Fetch-Site", "cross-site")]).is_err());
    for host in ["localhost", "127.0.0.1:80", "[::1]:8002"] {
        assert!(connect_with(&address, &[("Host", host)]).is_ok(), "{host}");
    }
}

#[test]
fn what_is_no_websocket_and_a_message_that_is_too_long_end_the_connection() {
    let (desk, _served, address) = serve("");
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        b"\xb4\xb5\x84\x84 no request at all\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(&address).expect("somebody listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
        stream.write_all(bytes).expect("it reads");
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 101"), "{answer:?}");
    }
    let mut socket = connect(&address, None).expect("it is let in");
    // The server may close the connection before it has read all of it.
    let _closed = socket.send(Message::binary(vec![0xb5; (4 << 20) + 1]));
    let mut said = Vec::new();
    while let Ok(message) = socket.read() {
        said.push(message.to_string());
    }
    assert!(
        said.iter()
            .all(|message| message.is_empty() || message.contains("<error ")),
        "{said:?}"
    );
    let mut socket = connect(&address, None).expect("it is let in");
    socket.send(Message::text("[[1 <X>]]")).expect("it reads");
    let why = next(&mut socket).into_text().expect("text");
    assert!(why.contains("<error") && why.contains("no event"), "{why}");
    // Others are served.
    Peer::enter(&desk, duet_drivers::framing::Encoding::Text, &grant(&desk, "room")).sync();
}
