import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Scopes from "../../src/services/oauth/Scopes.ts"
import { settled, startInstance } from "../support/Fediverse.ts"
import { TestServer } from "../support/Server.ts"
import { keyOperations, listener } from "./Listener.ts"
import { note, sendTo } from "./SentActivity.ts"

it.live(
  "S-234: a moderator forwards a report later, once to each server that is involved",
  () =>
    Effect.gen(function*() {
      const here = yield* startInstance()
      const there = yield* listener()
      const anna = yield* here.person("anna")
      const mod = yield* TestServer.use(({ createPerson }) => createPerson("mona", Scopes.all)).pipe(
        Effect.provide(here.context)
      )
      yield* here.sql`UPDATE users SET role_id = 3 WHERE account_id = (SELECT id FROM accounts WHERE username = 'mona')`
      const zoe = yield* there.actor("zoe")
      const mention = { cc: [anna.uri], tag: [{ type: "Mention", href: anna.uri }] }
      yield* sendTo(here, zoe)({ id: `${zoe.id}#create`, type: "Create", object: note(zoe, "rude", mention) })
      yield* settled([here])
      const { id } = yield* anna.find({ handle: `zoe@${there.domain}` })
      const [post] = yield* anna.ask("GET", `/api/v1/accounts/${id}/statuses`)
      yield* here.sql`INSERT INTO collections (id, account_id, local, uri, name, created_at, updated_at)
        VALUES (7, ${BigInt(id)}, false, ${`${zoe.id}/lists/7`}, 'Rude', now(), now())`
      const report = yield* anna.ask("POST", "/api/v1/reports", {
        account_id: id,
        status_ids: [post.id],
        collection_ids: ["7"],
        comment: "rude"
      })
      yield* settled([here])
      there.received.length = 0
      const forward = (domains: ReadonlyArray<string>) =>
        Effect.map(
          here.fetch(`/api/v1/admin/reports/${report.id}/forward`, {
            method: "POST",
            token: mod.token,
            json: { domains }
          }),
          ({ status }) => status
        )
      assert.deepStrictEqual([
        yield* forward(["elsewhere.example"]),
        yield* forward([]),
        yield* forward([there.domain])
      ], [422, 200, 422])
      yield* settled([here])
      const flags = there.take("Flag")
      assert.strictEqual(flags.length, 1)
      assert.deepInclude(flags[0]?.activity, {
        object: [zoe.id, `${zoe.id}/notes/rude`, `${zoe.id}/lists/7`],
        content: "rude"
      })
      const logged = yield* here.sql`SELECT action, coalesce(after ? 'refused', false) AS late FROM audit_log
        WHERE target_type = 'report' ORDER BY id`
      assert.deepStrictEqual(logged, [{ action: "forward", late: false }, { action: "forward", late: true }])
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)
