import { PgClient } from "@effect/sql-pg"
import * as bcrypt from "bcryptjs"
import { Context, Effect, FileSystem, Layer } from "effect"
import { createCipheriv, pbkdf2Sync, randomBytes } from "node:crypto"
import { deflateSync } from "node:zlib"
import * as Database from "../../../src/layers/Database.ts"
import * as KeyPairs from "../KeyPairs.ts"
import { TestDatabase } from "../TestDatabase.ts"
import { schema, type Version } from "./Schema.ts"

/** Password of every user. */
export const password = "correct horse battery staple"
const secrets = { primaryKey: "primary key of a test", salt: "salt of a test" }

/** Encrypts a text like Rails; deflates long ones. */
export const sealed = (text: string, digest: "sha256" | "sha1" = "sha256", primaryKey = secrets.primaryKey): string => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", pbkdf2Sync(primaryKey, secrets.salt, 65_536, 32, digest), nonce)
  const deflated = text.length > 140
  const body = Buffer.concat([cipher.update(deflated ? deflateSync(text) : Buffer.from(text)), cipher.final()])
  const header = { iv: nonce.toString("base64"), at: cipher.getAuthTag().toString("base64") }
  return JSON.stringify({ p: body.toString("base64"), h: deflated ? { ...header, c: true } : header })
}

/** Creates an empty Mastodon database of a version, and the environment file of its server. */
export const server = Effect.fnUntraced(function*(version: Version, domain: string) {
  const fs = yield* FileSystem.FileSystem
  const database = Context.get(yield* Layer.build(Layer.fresh(TestDatabase.layerEmpty)), TestDatabase)
  const context = yield* Layer.build(
    Layer.fresh(
      PgClient.layer({
        ...database.connection,
        ...Database.names,
        maxConnections: 2,
        startupParameters: { timezone: "UTC" }
      })
    )
  )
  const sql = Context.get(context, PgClient.PgClient)
  yield* Effect.forEach(schema(version), (statement) => sql.unsafe(statement), { discard: true })
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-mastodon-" })
  const env = `${folder}/.env.production`
  yield* fs.writeFileString(
    env,
    [
      `LOCAL_DOMAIN=${domain}`,
      `ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY="${secrets.primaryKey}"`,
      `export ACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT='${secrets.salt}'`
    ].join("\n")
  )
  const insert = (table: string, ...rows: ReadonlyArray<Record<string, unknown>>) =>
    Effect.forEach(rows, (row) => sql`INSERT INTO ${sql(table)} ${sql.insert(row)}`, { discard: true })

  /** Inserts a local account with its user and key. */
  const person = Effect.fnUntraced(
    function*(id: bigint, username: string, more: { readonly account?: object; readonly user?: object } = {}) {
      const pair = yield* KeyPairs.next
      const isSealed = version === "4.7"
      yield* insert("accounts", {
        id,
        username,
        privateKey: isSealed ? null : pair.privatePem,
        publicKey: isSealed ? "" : pair.publicPem,
        ...(version === "4.3" ? {} : { idScheme: 0 }),
        ...more.account
      })
      if (isSealed) {
        yield* insert("keypairs", {
          accountId: id,
          localFragment: "#main-key",
          publicKey: pair.publicPem,
          privateKey: sealed(pair.privatePem)
        })
      }
      yield* insert("users", {
        id: id + 1_000n,
        accountId: id,
        email: `${username}@mail.example`,
        // Mastodon's prefix; for a short password both versions give the same hash.
        encryptedPassword: bcrypt.hashSync(password, 4).replace("$2b$", "$2a$"),
        confirmedAt: new Date(),
        ...more.user
      })
      return { id, username, userId: id + 1_000n, pair }
    }
  )
  /** Inserts an account of another server. */
  const stranger = Effect.fnUntraced(function*(id: bigint, username: string, more: object = {}) {
    const uri = `https://far.example/users/${username}`
    yield* insert("accounts", {
      id,
      username,
      domain: "far.example",
      uri,
      url: `https://far.example/@${username}`,
      inboxUrl: `${uri}/inbox`,
      sharedInboxUrl: "https://far.example/inbox",
      followersUrl: `${uri}/followers`,
      publicKey: (yield* KeyPairs.next).publicPem,
      ...more
    })
    return { id, username, uri }
  })
  /** Inserts an access token of a local account: `token-of-` and its name. */
  const token = (
    { userId, username }: { readonly userId: bigint; readonly username: string },
    scopes: string
  ) => insert("oauth_access_tokens", { id: 1n, token: `token-of-${username}`, scopes, resourceOwnerId: userId })
  return { sql, url: database.url, env, folder, insert, person, stranger, token }
})
