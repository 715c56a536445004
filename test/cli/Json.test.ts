import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { cli } from "../support/CommandLine.ts"
import { helpOf, places } from "../support/CommandTree.ts"
import { person } from "../support/People.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const run = (...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const { url } = yield* TestDatabase
    const dataDir = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    const variables = { DATABASE_URL: url, PUBLIC_URL: "https://here.test", DATA_DIR: dataDir }
    const { code, err, out } = yield* cli(args, variables)
    assert.strictEqual(code, 0, err)
    return out
  }))

const parsed = (...args: ReadonlyArray<string>) => Effect.map(run(...args, "--json"), (out) => JSON.parse(out))

const Live = TestDatabase.layer.pipe(Layer.provideMerge(NodeServices.layer))

layer(Live, { excludeTestServices: true })("--json of the command line", (it) => {
  it.effect("is a flag of every command that lists or shows", () =>
    Effect.gen(function*() {
      const telling = yield* Effect.filter(places.filter(({ isLeaf }) => isLeaf), ({ path }) =>
        Effect.map(helpOf(path), ({ description }) => /^(?:Lists|Shows|Says|Prints) /.test(description)))
      assert.isAtLeast(telling.length, 13)
      for (const { path } of telling) {
        const { flags } = yield* helpOf(path)
        assert.isTrue(
          flags.some(({ name }) =>
            name === "json"
          ),
          path.join(" ")
        )
      }
    }))

  it.effect("prints an empty array without entries, and the text is the same as without the flag", () =>
    Effect.gen(function*() {
      yield* person("nobody")
      const lists = [
        [["account", "list", "--pending"], "No sign-ups are waiting.\n"],
        [["account", "alias", "list", "nobody"], ""],
        [
          ["account", "move-followers", "nobody"],
          "This account has not moved, and no account has moved to it.\n"
        ],
        [["announcement", "list"], "There are no announcements.\n"],
        [["domain", "list"], "There are no domain blocks or allowed domains.\n"],
        [["emoji", "list"], "There are no emoji.\n"],
        [["federation", "dead"], "There are no failed activities.\n"],
        [["federation", "dead", "--outcomes"], "No activities were received.\n"],
        [["federation", "queue"], "All delivery queues are empty.\n"],
        [["invite", "list"], "There are no invites.\n"],
        [["instance", "rules", "list"], "There are no rules.\n"],
        [["trends", "waiting"], "Nothing is waiting for review.\n"]
      ] as const
      for (const [args, text] of lists) {
        assert.strictEqual(yield* run(...args), text, args.join(" "))
        assert.strictEqual(yield* run(...args, "--json"), "[]\n", args.join(" "))
      }
    }))

  it.effect("has the API's names, ids as strings and times in ISO 8601", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const at = new Date("2026-01-02T03:04:05Z")
      yield* run("domain", "block", "spam.test", "--severity", "suspend", "--public-comment", "Spam")
      yield* run("domain", "allow", "friends.test")
      const [blocked, allowed] = yield* parsed("domain", "list")
      assert.match(blocked.id, /^\d+$/)
      assert.match(blocked.created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      assert.deepInclude(blocked, {
        rule: "block",
        domain: "spam.test",
        severity: "suspend",
        reject_media: false,
        private_comment: null,
        public_comment: "Spam"
      })
      assert.deepInclude(allowed, { rule: "allow", domain: "friends.test" })

      yield* run("instance", "rules", "add", "Be kind", "--hint", "To all")
      yield* run("instance", "rules", "translate", "1", "pt-BR", "Seja gentil")
      const [rule] = yield* parsed("instance", "rules", "list")
      assert.deepInclude(rule, {
        number: 1,
        text: "Be kind",
        hint: "To all",
        translations: { "pt-BR": { text: "Seja gentil", hint: "" } }
      })
      const instance = yield* parsed("instance", "show")
      assert.deepInclude(instance, { title: "Murmuration", terms_of_service: null, contact_account: null })
      assert.deepStrictEqual(instance.rules[0].text, "Be kind")

      yield* run("announcement", "add", "Later", "--publish-at", "2030-01-02T03:04:05Z")
      const [announcement] = yield* parsed("announcement", "list")
      assert.deepInclude(announcement, {
        text: "Later",
        all_day: false,
        published_at: null,
        scheduled_at: "2030-01-02T03:04:05.000Z"
      })

      yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
        VALUES (9, 'eve', 'far.test', 'https://far.test/eve', ${at}, ${at})`
      yield* sql`INSERT INTO inbound_activities (id, account_id, uri, received_at, due_at, signed_at, tries, outcome)
        VALUES (71, 9, 'https://far.test/eve#1', ${at}, ${at}, ${at}, 8, 'set aside: it is broken')`
      const activity = { id: "71", actor: "https://far.test/eve", uri: "https://far.test/eve#1" }
      const [dead] = yield* parsed("federation", "dead")
      assert.deepStrictEqual(dead, { ...activity, received_at: at.toISOString(), reason: "it is broken" })
      const explained = yield* parsed("federation", "explain", "71")
      assert.isNull(explained.post)
      assert.deepInclude(explained.activities[0], { ...activity, tries: 8, outcome: "set aside: it is broken" })

      const usage = yield* parsed("media", "usage", "--check")
      assert.deepStrictEqual(usage.remote_copies, { files: 0, bytes: 0 })
      assert.deepStrictEqual(usage.unknown, { files: 0, bytes: 0 })
    }))

  it.effect("F246: control characters of strangers do not reach the terminal, in text or JSON", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = yield* person("mallory")
      const reason = "Hi\u001b[2J\u001b]0;owned\u0007\u009b31mthere\u007f"
      yield* sql`UPDATE users SET approved = false, reason = ${reason} WHERE account_id = ${id}`
      const out = yield* run("account", "list", "--pending")
      assert.notMatch(out, /[^\P{Cc}\n\t]/u)
      assert.include(out, "Hi[2J]0;owned31mthere")
      const json = yield* run("account", "list", "--pending", "--json")
      assert.notMatch(json, /[^\P{Cc}\n\t]/u)
      const [pending] = JSON.parse(json)
      assert.deepInclude(pending, { id: String(id), username: "mallory", email: "mallory@example.test" })
      assert.strictEqual(pending.invite_request, reason)
    }))

  it.effect("F246: texts of strangers forge no lines of a list, and do not reorder them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = yield* person("mona")
      const reason = "Hi\u202e\u2066\r\nowner\u2028yes"
      yield* sql`UPDATE users SET approved = false, reason = ${reason} WHERE account_id = ${id}`
      const out = yield* run("account", "list", "--pending")
      assert.match(out, /^.*mona.*Hi owner yes.*$/m)
      const json = yield* run("account", "list", "--pending", "--json")
      assert.notMatch(json, /[\u202e\u2066]/u)
      assert.include(JSON.parse(json).map((one: { readonly invite_request: string }) => one.invite_request), reason)
    }))
})
