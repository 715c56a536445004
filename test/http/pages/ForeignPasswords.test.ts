import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import * as bcrypt from "bcryptjs"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PasswordHashing from "../../../src/layers/PasswordHashing.ts"
import { password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

const cheap = { memory: 32, passes: 1, parallelism: 1 }
const credentials = PasswordHashing.layerWith(cheap).pipe(Layer.provide(NodeCrypto.layer))

layer(server({}, { credentials }), { excludeTestServices: true })("passwords that another server hashed", (it) => {
  it.effect("a password that Mastodon hashed signs in, and is rehashed with our own function", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* user("moved")
      const stored = bcrypt.hashSync(password, 4)
      yield* sql`UPDATE users SET password_hash = ${stored} WHERE email = 'moved@mail.example'`
      const hashOf = Effect.map(
        sql<{ passwordHash: string }>`SELECT password_hash FROM users WHERE email = 'moved@mail.example'`,
        ([row]) => row?.passwordHash ?? ""
      )
      const first = TestBrowser.make()
      const wrong = yield* first.submit(yield* first.get("/auth/sign_in"), {
        email: "moved@mail.example",
        password: "wrong horse"
      })
      assert.deepStrictEqual([wrong.status, yield* hashOf], [422, stored])
      assert.strictEqual((yield* first.signIn("moved", wrong)).headers.get("location"), "/home")
      const fresh = yield* hashOf
      assert.match(fresh, /^\$argon2id\$/)
      const second = TestBrowser.make()
      const again = yield* second.signIn("moved", yield* second.get("/auth/sign_in"))
      assert.deepStrictEqual([again.headers.get("location"), yield* hashOf], ["/home", fresh])
    }))
})
