import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { normalizeDomain } from "../../src/services/federation/DomainNames.ts"
import { isReserved, isValid } from "../../src/services/identity/Usernames.ts"
import { readPost } from "../../src/services/spam/SpamText.ts"
import { hiddenAmong, hidingBy, isBlockedEitherWay, isHidden } from "../../src/services/visibility/HiddenAccounts.ts"
import { person } from "../support/People.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Spellings of one host name that resolve to it. */
const spellings = [
  "evil.example",
  "EVIL.example",
  "ｅvil.example",
  "evil。example",
  "evil%2Eexample",
  "evil.example:443"
]

layer(TestDatabase.layer, { excludeTestServices: true })("spellings", (it) => {
  it.effect("F71: a link's host is the same for spam rules, however it is written", () =>
    Effect.sync(() => {
      for (const spelling of [...spellings, "evil.example."]) {
        const { hosts } = readPost(`<p><a href="https://${spelling}/x">here</a></p>`, [])
        assert.deepStrictEqual(hosts, ["evil.example"], spelling)
      }
    }))

  it.effect("F71: a domain has one form, or is refused; account names have only ASCII letters", () =>
    Effect.sync(() => {
      for (const spelling of ["evil.example", "EVIL.example", "ｅvil.example", "evil。example", "evil.example:443"]) {
        assert.strictEqual(normalizeDomain(spelling), "evil.example", spelling)
      }
      assert.isUndefined(normalizeDomain("evil.example."))
      for (const name of ["ａdmin", "admın", "ſupport", "\u212Aelvin", "admin\u200D", " admin"]) {
        assert.isFalse(isValid(name), name)
      }
      for (const name of ["Admin", "adm1n", "_admin_", "he1p"]) assert.isTrue(isReserved(name), name)
    }))

  it.effect("F72: a user's block of a domain hides accounts of its server with handles of other domains", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const viewer = yield* person("viewer")
      const others = yield* Effect.forEach(
        ["blocked.example", "handle.invalid", "alias.example", "other.example"],
        Effect.fnUntraced(function*(domain) {
          const id = yield* person(domain.replace(".", ""))
          const host = domain === "other.example" ? domain : "blocked.example"
          yield* sql`UPDATE accounts SET domain = ${domain}, uri = ${`https://${host}/users/${id}`} WHERE id = ${id}`
          return id
        })
      )
      yield* sql`INSERT INTO domain_mutes (id, account_id, domain) VALUES (1, ${viewer}, 'blocked.example')`
      const now = new Date()
      for (const [at, other] of others.entries()) {
        const [one, two] = [sql`${viewer}::bigint`, sql`${other}::bigint`]
        const [row] = yield* sql`SELECT ${isHidden(sql, one, two, now)} AS hidden, ${
          isBlockedEitherWay(sql, one, two)
        } AS first,
          ${isBlockedEitherWay(sql, two, one)} AS second`
        assert.deepStrictEqual(row, { hidden: at < 3, first: at < 3, second: at < 3 })
        const [many] = yield* sql.unsafe(
          `SELECT cardinality(${hiddenAmong("$1::bigint", "$3::bigint[]", "$2::timestamptz", true)}) AS hidden,
            cardinality(${hidingBy("$4::bigint[]", "$3::bigint[]", "$2::timestamptz").domain}) AS hiding`,
          [viewer, now, [other], [viewer]]
        )
        assert.deepStrictEqual(many, { hidden: at < 3 ? 1 : 0, hiding: at < 3 ? 1 : 0 })
      }
    }))
})
