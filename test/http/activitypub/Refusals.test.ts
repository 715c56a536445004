import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { TestServer } from "../../support/Server.ts"
import { eventually, respond } from "./Exchange.ts"
import { found, there } from "./InboxCalls.ts"
import { OtherServer, servers } from "./Sending.ts"

layer(servers, { excludeTestServices: true })("refusals by other servers", (it) => {
  it.effect("F102: pending deliveries are shown with the refusals of both signature schemes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { domain } = yield* OtherServer
      const { variables } = yield* TestServer
      const ada = yield* newPerson("ada")
      for (
        const [name, second] of [["zoe", "401 Unsupported signature"], ["yan", undefined]] as const
      ) {
        yield* there(name)
        const { id } = yield* found(ada, name)
        yield* respond(`/users/${name}/inbox`, (request, response) => {
          request.resume()
          const isNew = request.headers["signature-input"] !== undefined
          // A broken connection does not replace the first refusal.
          if (isNew && second === undefined) return request.socket.destroy()
          response.writeHead(401).end(isNew ? "Unsupported signature" : "Public key not found")
        })
        yield* json(ada, `/api/v1/accounts/${id}/follow`, {})
        const error = yield* eventually(Effect.map(
          sql<{ error: string }>`SELECT d.error FROM deliveries d JOIN inboxes i ON i.id = d.inbox_id
            WHERE i.url LIKE ${`%/users/${name}/inbox`} AND d.error IS NOT NULL`,
          ([row]) => row?.error
        ))
        const { out } = yield* cli(["federation", "queue"], variables)
        assert.include(error, `signed by draft-cavage: 401 Public key not found; by rfc9421: ${second ?? ""}`)
        assert.include(out, `${domain}: `)
        assert.include(out, "last error: signed by draft-cavage: 401 Public key not found; by rfc9421: ")
      }
    }))
})
