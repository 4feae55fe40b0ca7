"use strict";

const WELCOME = `# Ask for bots, games and contests, or register a bot.
# A subscription shows what goes on while it goes on:
#   subscription { liveTables { id gameType bots { name } } }

{
  bots(gameType: NOUGHTS_AND_CROSSES) {
    name
    owner
    dateRegistered
  }
}
`;

const socket = location.protocol === "https:" ? "wss:" : "ws:";
const fetcher = GraphiQL.createFetcher({ url: "/graphql", subscriptionUrl: `${socket}//${location.host}/graphql` });
const asked = new URLSearchParams(location.search).get("query") ?? undefined;

ReactDOM.createRoot(document.getElementById("graphiql")).render(
  React.createElement(GraphiQL, { fetcher, defaultQuery: WELCOME, initialQuery: asked, query: asked }),
);
