// Decides how the description is shown: by the page component of the field, from our own files, with a request that can be sent. It must
// not ask anybody but the service that it came from, and keeps no credentials: they are gone with the page.

// Everybody knows them; a deployed service has none of them, and `npm start` says so of its own.
const DEVELOPMENT = {
  "X-App-Id": "dev-app",
  "X-App-Token": "dev-token",
  "X-Client-Application-Id": "dev-client",
  "X-Client-Token": "dev-client-token",
  "X-Management-Id": "dev-management",
  "X-Management-Token": "dev-management-token",
};
const isLocal = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);

const docs = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  // Hundreds of operations: what is not looked at is not drawn.
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  // Nobody else is told what this service describes.
  validatorUrl: null,
  onComplete() {
    if (!isLocal) return;
    for (const [name, value] of Object.entries(DEVELOPMENT)) docs.preauthorizeApiKey(name, value);
  },
});
