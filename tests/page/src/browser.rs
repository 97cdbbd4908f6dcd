//! A browser, as a person uses it.
//!
//! INVARIANT: whatever is looked for has 20 seconds to appear; nothing is concluded from a time
//! that has passed otherwise. The browser and its driver end with the test.
//! Read next: `main.rs`.
//!
//! Source: WebDriver, W3C Working Draft.

use std::fmt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};

/// The time that something has to appear.
const PATIENCE: Duration = Duration::from_secs(20);

/// The time between two looks.
const INTERVAL: Duration = Duration::from_millis(100);

/// Why a test fails.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) String);

impl fmt::Display for Failed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// A kind of screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    height: u32,
    is_dark: bool,
}

impl Screen {
    pub(crate) const WIDE_LIGHT: Self = Self::new("page-wide", 1_400, 900, false);
    pub(crate) const WIDE_DARK: Self = Self::new("page-wide-dark", 1_400, 900, true);
    pub(crate) const NARROW_LIGHT: Self = Self::new("page-narrow", 400, 860, false);
    pub(crate) const NARROW_DARK: Self = Self::new("page-narrow-dark", 400, 860, true);
    pub(crate) const ALL: [Self; 4] = [Self::WIDE_LIGHT, Self::WIDE_DARK, Self::NARROW_LIGHT, Self::NARROW_DARK];

    const fn new(name: &'static str, width: u32, height: u32, is_dark: bool) -> Self {
        Self {
            name,
            width,
            height,
            is_dark,
        }
    }

    fn capabilities(self) -> Map<String, Value> {
        let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!self.is_dark));
        let options = json!({
            "goog:chromeOptions": {
                "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--hide-scrollbars", "--lang=en", scheme],
                "mobileEmulation": {
                    "deviceMetrics": { "width": self.width, "height": self.height, "pixelRatio": 1, "touch": false },
                },
            },
        });
        options.as_object().cloned().unwrap_or_default()
    }
}

/// A browser with one window.
pub(crate) struct Browser {
    client: Client,
    driver: Driver,
}

/// The process that drives the browser.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Browser {
    /// Opens a browser with a screen.
    pub(crate) async fn open(screen: Screen) -> Result<Self, Failed> {
        let port = free_port()?;
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let driver = Driver(driver);
        let address = format!("http://127.0.0.1:{port}");
        let begun = Instant::now();
        loop {
            let connected = ClientBuilder::new(HttpConnector::new())
                .capabilities(screen.capabilities())
                .connect(&address)
                .await;
            match connected {
                Ok(client) => return Ok(Self { client, driver }),
                Err(error) if begun.elapsed() > PATIENCE => return Err(error.into()),
                Err(_) => tokio::time::sleep(INTERVAL).await,
            }
        }
    }

    pub(crate) async fn close(self) -> Result<(), Failed> {
        self.client.close().await?;
        drop(self.driver);
        Ok(())
    }

    pub(crate) async fn go(&self, address: &str) -> Result<(), Failed> {
        Ok(self.client.goto(address).await?)
    }

    /// Runs a script, whose result is a text.
    pub(crate) async fn run(&self, script: &str) -> Result<String, Failed> {
        let value = self.client.execute(script, Vec::new()).await?;
        Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// Waits until a script says yes; `wanted` is what is looked for, in words.
    async fn waits(&self, script: &str, words: Vec<Value>, wanted: &str) -> Result<(), Failed> {
        let begun = Instant::now();
        while self.client.execute(script, words.clone()).await? != json!(true) {
            if begun.elapsed() > PATIENCE {
                let shown = self.run("return document.body.innerText").await?;
                return Err(Failed(format!("{wanted} does not appear; the page shows:\n{shown}")));
            }
            tokio::time::sleep(INTERVAL).await;
        }
        Ok(())
    }

    /// Waits until an element with a text is there.
    pub(crate) async fn sees(&self, selector: &str, text: &str) -> Result<(), Failed> {
        let script = "return [...document.querySelectorAll(arguments[0])].some((found) => \
            found.textContent.includes(arguments[1]))";
        self.waits(
            script,
            vec![selector.into(), text.into()],
            &format!("`{text}` in `{selector}`"),
        )
        .await
    }

    /// Waits until an element is there.
    pub(crate) async fn finds(&self, selector: &str) -> Result<(), Failed> {
        self.sees(selector, "").await
    }

    /// Waits until no element has a text.
    pub(crate) async fn lacks(&self, selector: &str, text: &str) -> Result<(), Failed> {
        let script = "return ![...document.querySelectorAll(arguments[0])].some((found) => \
            found.textContent.includes(arguments[1]))";
        let words = vec![selector.into(), text.into()];
        self.waits(script, words, &format!("`{selector}` without `{text}`"))
            .await
    }

    pub(crate) async fn has_no(&self, selector: &str) -> Result<(), Failed> {
        let script = format!("return document.querySelectorAll({}).length", json!(selector));
        match self.run(&script).await?.as_str() {
            "0" => Ok(()),
            count => Err(Failed(format!("there are {count} of {selector}"))),
        }
    }

    /// Waits for a button or a link whose words begin so, and clicks on it; a window is in front of
    /// the rest.
    pub(crate) async fn click(&self, words: &str) -> Result<(), Failed> {
        let script = "const within = document.querySelector('dialog[open]') ?? document; \
            const found = [...within.querySelectorAll('button, a')].find((found) => \
                found.textContent.trim().startsWith(arguments[0])); \
            found?.click(); return Boolean(found)";
        self.waits(script, vec![words.into()], &format!("the button `{words}`"))
            .await
    }

    /// Waits for a field, and writes a text into it.
    pub(crate) async fn fill(&self, selector: &str, text: &str) -> Result<(), Failed> {
        let script = "const found = document.querySelector(arguments[0]); if (!found) return false; \
            found.focus(); found.value = arguments[1]; \
            found.dispatchEvent(new Event('input', { bubbles: true })); return true";
        self.waits(
            script,
            vec![selector.into(), text.into()],
            &format!("the field `{selector}`"),
        )
        .await
    }

    pub(crate) async fn press(&self, key: &str) -> Result<(), Failed> {
        let script = format!(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: {}, bubbles: true }})); return 'pressed'",
            json!(key)
        );
        self.run(&script).await.map(|_| ())
    }

    /// Waits until the page has an address.
    pub(crate) async fn leads_to(&self, path: &str) -> Result<(), Failed> {
        let script = "return location.pathname === arguments[0]";
        self.waits(script, vec![path.into()], &format!("the address {path}"))
            .await
    }

    /// A picture of the window, as PNG.
    pub(crate) async fn picture(&self) -> Result<Vec<u8>, Failed> {
        Ok(self.client.screenshot().await?)
    }
}

/// A port that nobody uses.
fn free_port() -> Result<u16, Failed> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
