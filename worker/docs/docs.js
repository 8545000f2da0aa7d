// Shows the OpenAPI description with Swagger UI, only from files of this service, and lets the reader send requests. Requests go only to
// the service that served the page. Credentials are not stored after the page is closed.

// These credentials are public. A deployed service has none of them, and `npm start` prints its own.
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
  // There are hundreds of operations: they stay collapsed until opened.
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  // No other host receives the description.
  validatorUrl: null,
  onComplete() {
    if (!isLocal) return;
    for (const [name, value] of Object.entries(DEVELOPMENT)) docs.preauthorizeApiKey(name, value);
  },
});
