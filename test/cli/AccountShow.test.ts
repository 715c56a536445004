import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { cli } from "../support/CommandLine.ts"
import { person } from "../support/People.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const run = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(
    TestDatabase,
    ({ url }) => cli(["account", "show", ...args], { DATABASE_URL: url, PUBLIC_URL: "https://here.test" })
  )

layer(TestDatabase.layer, { excludeTestServices: true })("account show", (it) => {
  it.effect("describes a new user", () =>
    Effect.gen(function*() {
      const id = yield* person("fresh", { seenAt: Date.parse("2026-01-02T03:04:05Z") })
      const { code, err, out } = yield* run("@fresh")
      assert.strictEqual(code, 0, err)
      assert.match(
        out,
        new RegExp(
          [
            `^Account: fresh \\(${id}\\)`,
            "URL: https://here\\.test/@fresh",
            "E-mail: fresh@example\\.test",
            "Role: -",
            "State: active",
            "Password: set, identities at a provider: 0",
            "Second factor: off; recovery codes: 0, passkeys: 0",
            "Sessions: 0, apps: 0, tokens of the command line: 0",
            "Posts: 0, followers: 0, following: 0",
            "Created: \\S+Z",
            "Last seen: 2026-01-02T03:04:05.000Z, last sign-in: never, last post: never",
            "Languages: pages -, posts -, reads all",
            "Time zone: -",
            "Reports: 0, open: 0, strikes: 0\n$"
          ].join("\n")
        )
      )
    }))

  it.effect("F246: shows every state on its own lines, and counts sessions, apps, factors, reports and strikes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [id, other] = [yield* person("troubled"), yield* person("other")]
      const at = new Date("2026-01-02T03:04:05Z")
      yield* sql`UPDATE accounts SET display_name = ${"Troubled\nRole:\u202e T."}, silenced_at = ${at}, suspended_at = ${at},
        sensitized_at = ${at}, memorial = true, moved_to_id = ${other} WHERE id = ${id}`
      yield* sql`UPDATE users SET confirmed_at = NULL, approved = false, disabled = true,
        unconfirmed_email = 'new@example.test', role_id = 1, otp_secret = '\\x00', otp_last_step = 1,
        otp_enabled_at = ${at}, locale = 'de', default_language = 'fr', chosen_languages = '{de,en}',
        time_zone = 'Europe/Berlin', last_sign_in_at = ${at} WHERE account_id = ${id}`
      yield* sql`UPDATE account_stats SET statuses_count = 7, followers_count = 5, following_count = 3,
        last_status_at = ${at} WHERE account_id = ${id}`
      yield* sql`INSERT INTO recovery_codes VALUES (${id}, '\\x00'), (${id}, '\\x01')`
      // The second one has ended.
      yield* sql`INSERT INTO sessions (id_hash, account_id, created_at, seen_at)
        VALUES ('\\x00', ${id}, ${at}, ${new Date()}), ('\\x01', ${id}, ${new Date(0)}, ${new Date(0)})`
      yield* sql`UPDATE users SET password_hash = NULL WHERE account_id = ${id}`
      yield* sql`INSERT INTO identities VALUES ('https://id.example', 'x', ${id}, ${at}, ${at})`
      yield* sql`INSERT INTO oauth_apps (id, client_id, client_secret_hash, name, redirect_uris, scopes, created_at)
        VALUES (1, 'a', '\\x00', 'App', '{}', 'read', ${at})`
      // Two tokens of one app, one of the command line, a browser's and a revoked one.
      yield* sql`INSERT INTO oauth_tokens (id, token_hash, app_id, account_id, scopes, created_at, revoked_at, session_hash)
        VALUES (1, '\\x01', 1, ${id}, 'read', ${at}, NULL, NULL), (2, '\\x02', 1, ${id}, 'read', ${at}, NULL, NULL),
          (3, '\\x03', NULL, ${id}, 'read', ${at}, NULL, NULL), (4, '\\x04', NULL, ${id}, 'read', ${at}, NULL, '\\x00'),
          (5, '\\x05', NULL, ${id}, 'read', ${at}, ${at}, NULL)`
      yield* sql`INSERT INTO account_warnings (id, target_account_id, action, text, created_at)
        VALUES (1, ${id}, 'none', '', ${at})`
      const { code, err, out } = yield* run("troubled")
      assert.strictEqual(code, 0, err)
      assert.include(out, `Account: troubled (${id}), Troubled Role: T.\n`)
      assert.include(out, "E-mail: troubled@example.test, to become new@example.test\n")
      assert.include(out, "Role: Moderator\n")
      assert.include(
        out,
        "State: e-mail address not confirmed, waits for approval, disabled, suspended, limited, media marked as sensitive, memorial, moved to @other\n"
      )
      assert.include(out, "Password: none, identities at a provider: 1\n")
      assert.include(out, "Second factor: on; recovery codes: 2, passkeys: 0\n")
      assert.include(out, "Sessions: 1, apps: 1, tokens of the command line: 1\n")
      assert.include(out, "Posts: 7, followers: 5, following: 3\n")
      assert.include(out, "Languages: pages de, posts fr, reads de, en\nTime zone: Europe/Berlin\n")
      assert.include(out, "strikes: 1\n")

      const json = JSON.parse((yield* run("troubled", "--json")).out)
      assert.deepInclude(json, {
        id: String(id),
        url: "https://here.test/@troubled",
        role: "Moderator",
        confirmed: false,
        moved_to: "other",
        second_factor: "on",
        recovery_codes: 2,
        sessions: 1,
        has_password: false,
        identities: 1,
        apps: 1,
        operator_tokens: 1,
        statuses_count: 7,
        last_status_at: at.toISOString(),
        chosen_languages: ["de", "en"],
        open_reports: 0,
        strikes: 1
      })
      assert.notProperty(json, "password_hash")
    }))

  it.effect("refuses remote and unknown accounts with a message and exit code 1", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* run("nobody"), { code: 1, err: "There is no account nobody here\n" })
      assert.strictEqual((yield* run("other@far.test")).code, 1)
    }))
})
