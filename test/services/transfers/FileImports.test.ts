import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { person as personRow } from "../../support/People.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { exported, imported, importServer } from "./ListTransfers.ts"

interface Filter {
  readonly title: string
  readonly keywords: ReadonlyArray<{ readonly keyword: string }>
}

const countsOf = (
  { added, failed, processed, removed, state, total }: Effect.Success<ReturnType<typeof imported>>
) => ({
  state,
  total,
  processed,
  added,
  removed,
  failed
})

const following = ({ accountId, token }: Person) =>
  Effect.map(
    json({ token }, `/api/v1/accounts/${accountId}/following`),
    (people: ReadonlyArray<{ readonly username: string }>) => people.map(({ username }) => username).toSorted()
  )

layer(importServer, { excludeTestServices: true })(
  "imports of files",
  (it) => {
    it.effect("a merge adds what is missing and keeps the rest", () =>
      Effect.gen(function*() {
        const ida = yield* newPerson("ida")
        for (const name of ["bea", "carl", "dora"]) yield* newPerson(name)
        const first = yield* imported(ida, "follows", "Account address,Show boosts\nbea,true\ncarl,false\n")
        assert.deepStrictEqual(countsOf(first), {
          state: "finished",
          total: 2,
          processed: 2,
          added: 2,
          removed: 0,
          failed: 0
        })
        const second = yield* imported(ida, "follows", "bea\ndora\nnobody\nida\nno address at all\n")
        assert.deepStrictEqual(countsOf(second), {
          state: "finished",
          total: 5,
          processed: 5,
          added: 1,
          removed: 0,
          failed: 3
        })
        assert.deepStrictEqual(yield* following(ida), ["bea", "carl", "dora"])
        const sql = yield* SqlClient.SqlClient
        const left = yield* sql`SELECT reason FROM transfer_lines WHERE transfer_id = ${second.id} ORDER BY place`
        assert.deepStrictEqual(left.map((row) => row["reason"]), ["not_found", "not_allowed", "invalid"])
      }))

    it.effect("F262: an overwriting import leaves exactly the entries of the file, of each kind and each scheme of ids", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const host = new URL(baseUrl).host
        const eve = yield* newPerson("eve")
        const others = [yield* newPerson("fay"), yield* newPerson("gil"), yield* newPerson("hal")]
        // One author has ids by number, as accounts from Mastodon may.
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE accounts SET id_scheme = 1 WHERE id = ${others[1]!.accountId}`
        const posts = yield* Effect.forEach(others, (other) => publish(other, "A post"))
        assert.match(String(posts[1]?.uri), /\/ap\/users\/\d+\/statuses\/\d+$/)
        const files = {
          follows: ["fay", "gil", "hal"].map((name) => `${name}@${host},true,false,`),
          blocks: ["fay", "gil", "hal"].map((name) => `${name}@${host}`),
          mutes: ["fay", "gil", "hal"].map((name) => `${name}@${host},true`),
          domain_blocks: ["a.example", "b.example", "c.example"],
          bookmarks: posts.map(({ uri }) => String(uri)),
          favourites: posts.map(({ uri }) => String(uri)),
          lists: [`Birds,fay@${host}`, `Birds,gil@${host}`, `Cats,hal@${host}`]
        } as const
        for (
          const kind of ["lists", "follows", "mutes", "domain_blocks", "bookmarks", "favourites", "blocks"] as const
        ) {
          const lines = files[kind]
          const before = yield* imported(eve, kind, lines.slice(0, 2).join("\n"))
          assert.strictEqual(before.added, 2, kind)
          const after = yield* imported(eve, kind, lines.slice(1).join("\n"), { overwrite: true })
          assert.deepStrictEqual(
            countsOf(after),
            { state: "finished", total: 2, processed: 2, added: 1, removed: 1, failed: 0 },
            kind
          )
          assert.deepStrictEqual(yield* exported(eve, kind), lines.slice(1).toSorted(), kind)
          yield* imported(eve, kind, lines[1] ?? "", { overwrite: true })
          if (kind === "follows" || kind === "mutes") yield* imported(eve, kind, "eve", { overwrite: true })
        }
        const lists = yield* json(eve, "/api/v1/lists")
        assert.deepStrictEqual(lists.map(({ title }: { readonly title: string }) => title), ["Birds"])
      }))

    it.effect("D-030: lists are created with their members, whom the option follows", () =>
      Effect.gen(function*() {
        const [jan, kim] = [yield* newPerson("jan"), yield* newPerson("kim")]
        const text = "Friends,kim\n\"Many, many\",kim\nFriends,jan\n"
        const done = yield* imported(jan, "lists", text, { follow: true })
        assert.deepStrictEqual([done.added, done.failed], [3, 0])
        const lists = yield* json(jan, "/api/v1/lists")
        assert.deepStrictEqual(
          lists.map(({ title }: { readonly title: string }) => title).toSorted(),
          ["Friends", "Many, many"]
        )
        assert.deepStrictEqual(yield* following(jan), [kim.username])
        const again = yield* imported(jan, "lists", text, { follow: true })
        assert.deepStrictEqual([again.added, again.failed], [0, 0])
      }))

    it.effect("F257: filters are imported once by their titles, with keywords and posts", () =>
      Effect.gen(function*() {
        const lea = yield* newPerson("lea")
        const post = yield* publish(lea, "Something to filter")
        const text = JSON.stringify({
          custom_filters: [
            {
              title: "Birds",
              expires_at: null,
              context: ["home", "unheard of"],
              action: "hide",
              keywords_attributes: [{ keyword: "owl", whole_word: false }, { keyword: "crow", whole_word: true }],
              statuses: [post.uri, "https://nobody.invalid/1"]
            },
            { title: "No context", context: [] },
            "no filter"
          ]
        })
        const done = yield* imported(lea, "filters", text)
        assert.deepStrictEqual([done.total, done.added, done.failed], [3, 1, 2])
        yield* imported(lea, "filters", text)
        const filters = yield* json(lea, "/api/v2/filters")
        assert.deepStrictEqual(filters.length, 1)
        const [{ context, filter_action, keywords, statuses }] = filters
        assert.deepStrictEqual([context, filter_action, keywords.length, statuses.length], [["home"], "hide", 2, 1])
        const file = yield* exported(lea, "filters")
        assert.include(file.join(""), "\"keywords_attributes\":[{\"keyword\":\"owl\",\"whole_word\":false}")
        const other = { title: "Other", context: ["home"], keywords_attributes: [{ keyword: "x\0y\ud800z" }] }
        const long = { title: `${"x".repeat(499)}\u{1f600}`, context: ["home"], statuses: ["\0", "\udc00"] }
        const replaced = yield* imported(lea, "filters", JSON.stringify({ custom_filters: [other, long] }), {
          overwrite: true
        })
        assert.deepStrictEqual([replaced.added, replaced.removed, replaced.failed], [1, 1, 1])
        const left = yield* json(lea, "/api/v2/filters")
        assert.deepStrictEqual(
          left.map(({ keywords, title }: Filter) => [title, keywords.map(({ keyword }) => keyword)]),
          [["Other", ["xy\ufffdz"]]]
        )
      }))

    it.effect("an import that is interrupted at random points, and taken over by others, has the result of an uninterrupted one", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const names = Array.from({ length: 45 }, (_, at) => `bird${at}`)
        yield* Effect.forEach(names, (name) => personRow(name), { discard: true })
        yield* sql`CREATE SEQUENCE faults`
        yield* sql.unsafe(`CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN
          n := nextval('faults');
          IF n % 13 = 3 OR n % 17 = 5 THEN RAISE EXCEPTION 'a drawn fault'; END IF;
          RETURN NULL; END $$`)
        // Deferred to the end of transactions that commit progress, follow or unfollow.
        for (const [table, event] of [["transfers", "UPDATE"], ["follows", "INSERT OR DELETE"]] as const) {
          yield* sql.unsafe(`CREATE CONSTRAINT TRIGGER drawn_fault AFTER ${event} ON ${table}
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fault()`)
          yield* Effect.addFinalizer(() => Effect.ignore(sql.unsafe(`DROP TRIGGER drawn_fault ON ${table}`)))
        }
        const mona = yield* newPerson("mona")
        const imports = yield* FileImports
        const transfers = yield* Transfers
        for (const [text, overwrite] of [[names.slice(0, 30), false], [names.slice(15), true]] as const) {
          const { id } = yield* imports.begin(mona.accountId, {
            bytes: new TextEncoder().encode(text.join("\n")),
            fileName: "",
            kind: "follows",
            overwrite,
            follow: false
          }, true)
          // Another node claims the transfer, also while a step runs.
          let polls = 0
          const stolen = Effect.suspend(() =>
            ++polls % 40 === 0
              ? Effect.ignore(
                sql`UPDATE transfers SET due_at = now(), tries = 0 WHERE id = ${id} AND state = 'in_progress'`
              )
              : Effect.void
          )
          const done = yield* eventually(
            Effect.andThen(stolen, transfers.find(mona.accountId, id)),
            ({ state }) => state === "finished" || state === "failed"
          )
          assert.deepStrictEqual(countsOf(done), {
            state: "finished",
            total: 30,
            processed: 30,
            added: overwrite ? 15 : 30,
            removed: overwrite ? 15 : 0,
            failed: 0
          })
        }
        const rows = yield* sql`SELECT a.username FROM follows f JOIN accounts a ON a.id = f.target_account_id
          WHERE f.account_id = ${mona.accountId}`
        assert.sameMembers(rows.map((row) => row["username"]), names.slice(15))
      }).pipe(Effect.scoped))

    it.effect("two imports of an account run in turn, and a cancelled one changes nothing more", () =>
      Effect.gen(function*() {
        const otto = yield* newPerson("otto")
        const imports = yield* FileImports
        const transfers = yield* Transfers
        const begin = (text: string, overwrite: boolean) =>
          imports.begin(otto.accountId, {
            bytes: new TextEncoder().encode(text),
            fileName: "",
            kind: "domain_blocks",
            overwrite,
            follow: false
          }, true)
        const domains = Array.from({ length: 100 }, (_, at) => `d${at}.example`)
        yield* begin(domains.join("\n"), false)
        const second = yield* begin("last.example", true)
        const third = yield* begin("never.example", true)
        yield* transfers.cancel(otto.accountId, third.id)
        const done = yield* eventually(
          transfers.find(otto.accountId, second.id),
          ({ state }) => state === "finished"
        )
        assert.deepStrictEqual([done.added, done.removed], [1, 100])
        assert.deepStrictEqual(yield* exported(otto, "domain_blocks"), ["last.example"])
      }))

    it.effect("an account that blocks the importing one is a failed line, and imports do not count against the limit of follows", () =>
      Effect.gen(function*() {
        const [petra, quirin] = [yield* newPerson("petra"), yield* newPerson("quirin")]
        yield* json(quirin, `/api/v1/accounts/${petra.accountId}/block`, {})
        const done = yield* imported(petra, "follows", "quirin\nida")
        assert.deepStrictEqual([done.added, done.failed], [1, 1])
        const sql = yield* SqlClient.SqlClient
        const used = yield* sql`SELECT FROM commands WHERE account_id = ${petra.accountId} AND family = 'follows'`
        assert.strictEqual(used.length, 0)
      }))
  }
)
