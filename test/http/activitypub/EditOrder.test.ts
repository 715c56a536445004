import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { actorOf, found, there } from "./InboxCalls.ts"
import { deliverFrom, OtherServer, servers } from "./Sending.ts"

layer(servers, { excludeTestServices: true })("the order of a post and its edit", (it) => {
  it.effect("F336: an edit is sent after its post, also if the fan-out of the post failed at first", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, zoe] = [yield* newPerson("anna"), yield* there("zoe")]
      const types: Array<string> = []
      yield* OtherServer.use(({ documents }) =>
        Effect.sync(() => {
          for (const path of ["/inbox", "/users/zoe/inbox"]) {
            documents.set(path, (request, response) => {
              request.on("data", (part) => types.push(...(/"type":"(?:Create|Update)"/.exec(String(part)) ?? [])))
              request.on("end", () => response.writeHead(202).end())
            })
          }
        })
      )
      yield* found(anna, "zoe")
      yield* deliverFrom(zoe, { type: "Follow", object: yield* actorOf(anna) })
      // A sequence counts tries that are rolled back, too.
      yield* sql`CREATE SEQUENCE tries`
      yield* sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN IF OLD.kind = ''publish'' THEN PERFORM nextval(''tries''); RAISE EXCEPTION ''no''; END IF; RETURN OLD; END'`
      yield* sql.unsafe(
        "CREATE TRIGGER refuse BEFORE DELETE OR UPDATE ON fanouts FOR EACH ROW EXECUTE FUNCTION refuse()"
      )
      const tries = Effect.map(
        sql<{ tries: number }>`SELECT last_value::int AS tries FROM tries`,
        ([row]) => row!.tries
      )
      const { id } = yield* publish(anna, "first")
      assert.strictEqual((yield* ask(anna, "PUT", `/api/v1/statuses/${id}`, { status: "second" })).status, 200)
      // The first round after the edit may have begun before it.
      const before = yield* tries
      yield* eventually(tries, (count) => count >= before + 2)
      const waiting = yield* sql<{ kind: string }>`SELECT kind FROM fanouts ORDER BY id`
      assert.deepStrictEqual(waiting.map(({ kind }) => kind), ["publish", "edit"])
      yield* sql.unsafe("DROP TRIGGER refuse ON fanouts")
      // Wakes the account's actor.
      yield* publish(anna, "third")
      yield* eventually(Effect.sync(() => types), ({ length }) => length === 3)
      assert.deepStrictEqual(types.slice(0, 2).toSorted(), types.slice(0, 2))
    }))
})
