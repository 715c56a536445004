import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { impersonalTables, personalTables } from "../../src/layers/backup/PersonalTables.ts"
import { cli } from "../support/CommandLine.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Live = TestDatabase.layer.pipe(Layer.provideMerge(NodeServices.layer))

const domain = "birds.example"

interface Exported {
  readonly account: string
  readonly tables: Readonly<Record<string, ReadonlyArray<Readonly<Record<string, unknown>>>>>
}

layer(Live, { excludeTestServices: true })("npm run cli -- account export", (it) => {
  it.effect("knows each table and column that refers to an account or to a post", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const references = yield* sql<{ table: string; column: string; target: string }>`
        SELECT c.relname AS table, a.attname AS column, confrelid::regclass::text AS target
        FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid
          JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = ANY (f.conkey)
        WHERE f.contype = 'f' AND c.relnamespace = 'public'::regnamespace
          AND confrelid IN ('accounts'::regclass, 'users'::regclass, 'statuses'::regclass)
        UNION SELECT c.relname, a.attname, 'accounts' FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attname ~ '(^|_)account_id$' AND NOT a.attisdropped
        ORDER BY 1, 2`
      const unknown = references.filter(({ column, table, target }) => {
        if (impersonalTables.has(table)) return false
        const known = personalTables.get(table)
        if (known === undefined) return true
        if (target === "statuses") return false
        return known.by?.includes(column) !== true && known.not?.some(([name]) => name === column) !== true
      })
      assert.deepStrictEqual(unknown, [])
      const columns = yield* sql<{ name: string }>`SELECT table_name || '.' || column_name AS name
        FROM information_schema.columns WHERE table_schema = 'public'`
      const there = new Set(columns.map(({ name }) => name))
      const stale = [...personalTables].flatMap(([table, { by = [], not = [], via }]) =>
        [...by, ...not.map(([column]) => column), ...(via === undefined ? [] : [via[0]])].map((column) =>
          `${table}.${column}`
        )
      ).filter((name) => !there.has(name))
      assert.deepStrictEqual(stale, [])
    }))

  it.effect(
    "F260: writes every table's rows about a person and nobody else's, without secrets, reporters or moderators",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const fs = yield* FileSystem.FileSystem
        const sql = yield* SqlClient.SqlClient
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-export-" })
        const run = (...args: ReadonlyArray<string>) =>
          cli(args, { DATABASE_URL: url, DATA_DIR: folder, LOCAL_DOMAIN: domain })
        for (const name of ["ada", "eve"]) {
          yield* run("account", "create", name, "--email", `${name}@example.org`, "--confirmed")
          yield* run("token", "create", name, "--scopes", "read")
        }
        const [ada] = yield* sql<{ id: bigint }>`SELECT id FROM accounts WHERE username = 'ada'`
        const [eve] = yield* sql<{ id: bigint }>`SELECT id FROM accounts WHERE username = 'eve'`
        yield* sql`INSERT INTO blocks (id, account_id, target_account_id)
        VALUES (1, ${ada!.id}, ${eve!.id}), (2, ${eve!.id}, ${ada!.id})`
        yield* sql`INSERT INTO reports (id, account_id, target_account_id, created_at, category, comment, status_ids, rule_ids,
          forward_domains)
        VALUES (1, ${ada!.id}, ${eve!.id}, '2026-01-01', 'other', 'words of ada', '{}', '{}', '{}'),
          (2, ${eve!.id}, ${ada!.id}, '2026-01-01', 'other', 'words of eve', '{}', '{}', '{}')`
        yield* sql`UPDATE reports SET assigned_account_id = ${eve!.id}`
        yield* sql`UPDATE reports SET uri = 'https://eve.example/1' WHERE id = 2`
        yield* sql`INSERT INTO account_warnings (id, account_id, target_account_id, action, text, created_at)
        VALUES (1, ${eve!.id}, ${ada!.id}, 'none', 'be kind', '2026-01-01'), (2, ${ada!.id}, ${
          eve!.id
        }, 'none', 'to eve', '2026-01-01')`
        yield* sql`INSERT INTO moderation_notes (id, account_id, target_account_id, content, created_at)
        VALUES (1, ${eve!.id}, ${ada!.id}, 'about ada', '2026-01-01'), (2, ${ada!.id}, ${
          eve!.id
        }, 'about eve', '2026-01-01')`
        yield* sql`INSERT INTO audit_log (id, account_id, username, action, target_type, target_id, target_label, created_at)
        VALUES (1, ${eve!.id}, 'eve', 'warn', 'account', ${ada!.id}, 'ada', '2026-01-01'),
          (2, ${eve!.id}, 'eve', 'create', 'domain_block', ${ada!.id}, 'bad.example', '2026-01-01'),
          (3, ${ada!.id}, 'ada', 'create', 'rule', 1, 'be kind', '2026-01-01')`
        const file = `${folder}/ada.json`
        const { code, err, out } = yield* run("account", "export", "ada", file)
        assert.strictEqual(code, 0, out + err)
        assert.strictEqual(Number((yield* fs.stat(file)).mode) & 0o777, 0o600)
        const text = yield* fs.readFileString(file)
        const exported: Exported = JSON.parse(text)
        assert.deepStrictEqual(Object.keys(exported.tables), [...personalTables.keys()])
        assert.deepInclude(exported.tables["users"]?.[0], { email: "ada@example.org" })
        assert.strictEqual(exported.tables["users"]?.length, 1)
        assert.strictEqual(exported.tables["oauth_tokens"]?.length, 1)
        assert.strictEqual(exported.tables["blocks"]?.length, 1)
        assert.notInclude(text, "eve@example.org")
        assert.deepStrictEqual(
          exported.tables["reports"]?.map((report) => [report["id"], "account_id" in report]).toSorted(),
          [[1, true], [2, false]]
        )
        const ids = (table: string) => exported.tables[table]?.map((row) => row["id"]).toSorted()
        assert.deepStrictEqual([ids("account_warnings"), ids("moderation_notes"), ids("audit_log")], [[1], [1], [1, 3]])
        for (const other of ["words of eve", "eve.example", "about eve", "to eve", "bad.example", "\"eve\""]) {
          assert.notInclude(text, other)
        }
        const named = ["reports", "account_warnings", "moderation_notes", "audit_log"].flatMap((table) =>
          (exported.tables[table] ?? []).filter((row) =>
            row["account_id"] === Number(eve!.id) || "assigned_account_id" in row
          )
        )
        assert.deepStrictEqual(named, [], "moderators and reporters are not named")
        for (const secret of ["password_hash", "token_hash", "$argon2"]) assert.notInclude(text, secret)
        assert.include((yield* run("account", "export", "ada", file)).err, "exists already")
        yield* fs.writeFileString(`${folder}/again.json.part`, "left by a crash", { mode: 0o644 })
        const again = yield* run("account", "export", `@Ada@${domain}`, `${folder}/again.json`)
        assert.strictEqual(again.code, 0, again.err)
        assert.strictEqual(Number((yield* fs.stat(`${folder}/again.json`)).mode) & 0o777, 0o600)
        yield* fs.remove(`${folder}/again.json`)
        const nobody = yield* run("account", "export", "nobody", `${folder}/nobody.json`)
        assert.include(nobody.err, "There is no account nobody here")
        assert.deepStrictEqual(yield* fs.readDirectory(folder), ["ada.json"])
      }))
  )
})
