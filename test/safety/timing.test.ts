import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { sourcesIn } from "../support/source.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Names of values that could be guessed piece by piece if a comparison stopped at the first difference. */
const secret = /(?:secret|token|hash|digest|password|verifier|challenge|signature|mac|code)$/i
/** Names with these endings that are not secret. */
const harmless = new Set(["shortcode", "statusCode", "exitCode", "errorCode", "zipCode"])

/** Finds comparisons of two named values of which one is a secret; comparisons with literals disclose nothing. */
const hasty = (code: string) =>
  [...code.matchAll(/([\w$.?![\]]+)\s*[=!]==?\s*([\w$.?![\]]+)/g)].flatMap(([comparison, left = "", right = ""]) => {
    const names = [left, right].map((operand) => operand.replace(/[?!]+$/, "").split(".").at(-1) ?? "")
    const plain = [left, right].some((operand) => /^(?:undefined|null|true|false|\d.*)$/.test(operand))
    const compared = names.some((name) => secret.test(name) && !harmless.has(name))
    return !plain && compared && names.every((name) => name !== "length") ? [comparison] : []
  })

describe("row 73: the time of comparing secrets discloses nothing", () => {
  it("finds the comparisons that disclose it", () => {
    for (const one of ["token === given", "row.clientSecretHash !== hash", "a.b == codeVerifier", "x===mac"]) {
      assert.deepStrictEqual(hasty(`if (${one}) return`), [one])
    }
    for (const one of ["token === undefined", "code === \"\"", "hash.length !== other.length", "tokenId === id"]) {
      assert.deepStrictEqual(hasty(`if (${one}) return`), [])
    }
  })

  it("nowhere in the server", () => {
    const found = sourcesIn("src").flatMap(({ code, path }) => hasty(code).map((one) => `${path}: ${one}`))
    assert.deepStrictEqual(found, [])
  })

  it("secrets are compared in constant time", () => {
    const comparing = sourcesIn("src").filter(({ code }) => code.includes("timingSafeEqual")).map(({ path }) => path)
    assert.includeMembers(comparing, [
      "src/http/html/Visitors.ts",
      "src/layers/PasswordHashing.ts",
      "src/services/oauth/Apps.ts",
      "src/services/oauth/Grants.ts"
    ])
  })
})

/** Columns named like a secret that hold none: public values of clients, or values meant to be shown. */
const open = new Set([
  "canonical_email_blocks.canonical_email_hash",
  "custom_emojis.shortcode",
  "invites.code",
  "media_attachments.blurhash",
  "oauth_grants.code_challenge",
  "preview_cards.blurhash",
  "secrets.value"
])

/** Reversible secrets, encrypted with a key outside these tables (`secretCipher`). */
const sealed = new Set(["push_subscriptions.sealed_token", "users.otp_secret", "webhooks.secret"])

layer(TestDatabase.layer)("row 73: stored values", (it) => {
  it.effect("of tokens, codes and sessions are hashes, which are also the lookup keys", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = yield* sql<{ column: string; type: string; indexed: boolean }>`
        SELECT c.table_name || '.' || c.column_name AS column, c.data_type AS type, EXISTS (
          SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
          WHERE i.indrelid = (quote_ident(c.table_name))::regclass AND i.indisunique AND a.attname = c.column_name
        ) AS indexed
        FROM information_schema.columns c
        WHERE c.table_schema = 'public' AND c.column_name ~ '(secret|token|password|code|verifier|session|hash)'
          AND c.data_type IN ('text', 'bytea', 'character varying')`
      const hashes = columns.filter(({ column }) => !open.has(column) && !sealed.has(column))
      const named = hashes.map(({ column }) => column)
      assert.includeMembers(named, ["oauth_tokens.token_hash", "oauth_grants.code_hash", "mail_tokens.token_hash"])
      assert.deepStrictEqual(named.filter((column) => !column.endsWith("_hash")), [])
      // SHA-256, and argon2 with its parameters for passwords that people choose.
      const texts = hashes.filter(({ type }) => type !== "bytea").map(({ column }) => column)
      assert.deepStrictEqual(texts, ["users.password_hash"])
      const lookedUp = hashes.filter(({ indexed }) => indexed).map(({ column }) => column).toSorted()
      assert.deepStrictEqual(lookedUp, [
        "form_pages.session_hash",
        "mail_tokens.token_hash",
        "oauth_grants.code_hash",
        "oauth_tokens.session_hash",
        "oauth_tokens.token_hash",
        "owner_links.secret_hash",
        "pending_sign_ins.secret_hash",
        "sessions.id_hash",
        "used_passkey_challenges.challenge_hash",
        "used_provider_states.state_hash",
        "visitor_form_pages.browser_hash"
      ])
    }))
})
