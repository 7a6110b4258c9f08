//! Registering UDF modules, with what the server has to say about their source.

use aerospike_core::AdminPolicy;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::core_methods::of_change;
use super::raw::RawClient;
use crate::error::{Error, Result};

impl RawClient {
    /// Registers a UDF module in Lua; all nodes have it some time later (`udf-list`).
    ///
    /// # Errors
    /// `UdfBadResponse` for source that does not compile, with file, line and the compiler's message; the same for what
    /// else the server refuses.
    pub async fn put_udf(&self, policy: &AdminPolicy, source: &[u8], server_path: &str) -> Result<()> {
        let content = STANDARD.encode(source);
        let size = content.len();
        let command = format!("udf-put:filename={server_path};content={content};content-len={size};udf-type=LUA;");
        let node = self.asynchronous().random_node()?;
        let answers = self.ask(&node, policy, &[&command[..]]).await.map_err(of_change)?;
        match answers.get(&command).map_or("", String::as_str) {
            "" | "ok" => Ok(()),
            refused => Err(Error::udf_bad_response(explained(refused, server_path)).with_node(node.to_string())),
        }
    }
}

/// A refusal in words. `error=compile_error;file=..;line=..;message=<base64>` (golden group `udf`), or a bare `error=..`.
fn explained(answer: &str, server_path: &str) -> String {
    let part = |name: &str| answer.split(';').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    let Some(message) = part("message") else {
        return format!("the server refuses the UDF module {server_path}: {}", part("error").unwrap_or(answer));
    };
    // Some answers have the message as it is.
    let message = STANDARD.decode(message).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let message = message.as_deref().unwrap_or_default().trim();
    let (file, line) = (part("file").unwrap_or(server_path), part("line").unwrap_or("?"));
    format!("the UDF module does not compile: {file}:{line}: {message}")
}

#[cfg(test)]
mod tests {
    use super::explained;

    #[test]
    fn refusals_say_file_line_and_message() {
        let answer = "error=compile_error;file=a.lua;line=2;message=dW5leHBlY3RlZCA8ZW9mPg==";
        assert_eq!(explained(answer, "a.lua"), "the UDF module does not compile: a.lua:2: unexpected <eof>");
        assert_eq!(explained("error=invalid_filename", "a"), "the server refuses the UDF module a: invalid_filename");
        assert!(explained("error=compile_error;message=?", "a.lua").contains("a.lua:?"));
    }
}
