// Prints the URL at which the authorization server of an MCP server gives tokens: node token-url.mjs URL. A user of
// Duet looks it up once and writes it into the configuration.
const server = new URL(process.argv[2]);
const read = async (path, base) => (await fetch(new URL(path, base))).json();
const resource = await read(`/.well-known/oauth-protected-resource${server.pathname}`, server);
const issuer = new URL(resource.authorization_servers[0]);
const metadata = await read('/.well-known/oauth-authorization-server' + issuer.pathname.replace(/\/$/, ''), issuer);
console.log(metadata.token_endpoint);
