// Questions to the server: requests of verbs as JSON, and a stream of news.
//
// INVARIANT: every question has the token; nothing else than this server is asked.
// Read next: `turns.js`.

const token = new URLSearchParams(location.search).get("token") ?? "";

/** What the server refuses, in words. */
export class Refusal extends Error {}

async function post(message, signal) {
  let response;
  try {
    response = await fetch("/@/ask", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(message),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer. `duet ui` has ended, or this machine was asleep.");
  }
  const text = await response.text();
  let reply;
  try {
    reply = JSON.parse(text);
  } catch {
    throw new Refusal(text || `The server answered with status ${response.status}.`);
  }
  if (reply.error !== undefined) throw new Refusal(reply.error || "The question was not answered.");
  return reply;
}

/**
 * Asks a verb; the reply has its `report`, `messages`, `cuts`: the places that are shortened, and
 * `now_ms`: the time by the clock that dates the turns.
 */
export function ask(verb, request = {}, signal = undefined) {
  return post({ verb, ...request }, signal);
}

/** Asks what the page has to know first. */
export const about = () => post({ about: true });

/** Does something; the reply has the exit code, output and messages of its command. */
export const act = (deed) => post(deed);

/** Asks for the command that does the same. */
export const preview = (deed) => post({ ...deed, preview: true });

/** Has the journal checked. */
export const check = () => post({ check: true });

/** Hears how a run stands until `signal` ends it. A connection that breaks is made again. */
export async function follow(run, hear, lose, signal) {
  let wait = 500;
  while (!signal.aborted) {
    try {
      await listen(
        run,
        (name, event) => {
          if (name === "lost") {
            lose(new Refusal(event.error));
            return;
          }
          wait = 500;
          hear(event);
        },
        signal,
      );
    } catch (error) {
      if (signal.aborted) return;
      if (wait > 2000) lose(error);
    }
    await new Promise((resume) => setTimeout(resume, wait));
    wait = Math.min(wait * 2, 10000);
  }
}

async function listen(run, hear, signal) {
  const response = await fetch(`/@/news?run=${encodeURIComponent(run)}`, {
    headers: { authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok) throw new Refusal(await response.text());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const name = /^event: (.*)$/m.exec(event)?.[1];
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (name && data) hear(name, JSON.parse(data));
    }
  }
}
