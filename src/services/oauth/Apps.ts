import { Array as Arr, Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Mac } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type AccountId, AppId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import * as RedirectUris from "./RedirectUris.ts"
import * as Scopes from "./Scopes.ts"

/** Maximum lengths, in characters. */
const appNameCharactersMax = 60
const websiteCharactersMax = 2_000

/** A registered client. */
export interface App {
  readonly id: AppId
  readonly clientId: string
  readonly name: string
  readonly website: string | undefined
  readonly redirectUris: ReadonlyArray<string>
  readonly scopes: ReadonlyArray<string>
}

/** Registration data that a client sends. */
interface NewApp {
  readonly name: string
  readonly redirectUris: ReadonlyArray<string>
  readonly scopes: ReadonlyArray<string>
  readonly website: string | undefined
}

/** Maximum apps shown to a user, newest first. */
const authorizedAppsMax = 200

/** An app that a user has authorised, with all granted scopes. */
export interface AuthorizedApp {
  readonly app: App
  readonly scopes: ReadonlyArray<string>
  readonly authorizedAt: Date
  readonly lastUsedAt: Date | undefined
}

/** Clients of the API (auth.md section 3). */
export class Apps extends Context.Service<Apps, {
  /** Registers a new client, even if it repeats an earlier one. The secret is only returned here. */
  readonly register: (
    app: NewApp
  ) => Effect.Effect<{ readonly app: App; readonly secret: Redacted.Redacted }, Unprocessable>
  readonly find: (id: AppId) => Effect.Effect<Option.Option<App>>
  readonly findClient: (clientId: string) => Effect.Effect<Option.Option<App>>
  /** Returns the client if the secret is correct. */
  readonly authenticate: (clientId: string, secret: string) => Effect.Effect<Option.Option<App>>
  /** Returns the apps that have live tokens of the user. */
  readonly authorizedBy: (accountId: AccountId) => Effect.Effect<ReadonlyArray<AuthorizedApp>>
}>()("murmuration/services/oauth/Apps") {
  static readonly layer = Layer.effect(Apps, Effect.suspend(() => make))
}

const Row = Schema.Struct({
  id: Schema.BigInt,
  clientId: Schema.String,
  clientSecretHash: Schema.Uint8Array,
  name: Schema.String,
  website: Schema.NullOr(Schema.String),
  redirectUris: Schema.Array(Schema.String),
  scopes: Schema.String
})
type Row = typeof Row.Type
const appRows = rowsOf(Row)
const authorizedRows = rowsOf(Schema.Struct({
  ...Row.fields,
  granted: Schema.String,
  authorizedAt: Timestamptz,
  lastUsedAt: Schema.NullOr(Timestamptz)
}))

const appOf = (row: Row): App => ({
  id: AppId.make(row.id),
  clientId: row.clientId,
  name: row.name,
  website: row.website ?? undefined,
  redirectUris: row.redirectUris,
  scopes: Scopes.parse(row.scopes)
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* OpaqueSecrets

  const register = traced("Apps.register")(function*(app: NewApp) {
    const problems = problemsOf(app)
    if (problems.length > 0) return yield* validationFailed(...problems)
    const [clientId, secret] = [yield* secrets.make, yield* secrets.make]
    const now = yield* Clock.currentTimeMillis
    const rows = yield* appRows(sql`
      INSERT INTO oauth_apps (id, client_id, client_secret_hash, name, website, redirect_uris, scopes, created_at)
      VALUES (next_id(${now}), ${Redacted.value(clientId)}, ${yield* secrets.hash(secret)}, ${app.name},
        ${app.website ?? null}, ${app.redirectUris}, ${Scopes.format(app.scopes)}, ${new Date(now)})
      RETURNING *`).pipe(Effect.orDie)
    return { app: appOf(Option.getOrThrow(Arr.head(rows))), secret }
  })

  const find = traced("Apps.find")(
    (id: AppId) => Effect.map(appRows(sql`SELECT * FROM oauth_apps WHERE id = ${id}`), first),
    Effect.orDie
  )
  const rowOf = (clientId: string) => appRows(sql`SELECT * FROM oauth_apps WHERE client_id = ${clientId}`)
  const findClient = traced("Apps.findClient")(
    (clientId: string) => Effect.map(rowOf(clientId), first),
    Effect.orDie
  )

  const authenticate = traced("Apps.authenticate")(function*(clientId: string, secret: string) {
    const hash = yield* secrets.hash(secret)
    const [row] = yield* rowOf(clientId)
    return row !== undefined && Mac.timingSafeEqual(hash, row.clientSecretHash)
      ? Option.some(appOf(row))
      : Option.none()
  }, Effect.orDie)

  const authorizedBy = traced("Apps.authorizedBy")(function*(accountId: AccountId) {
    const rows = yield* authorizedRows(sql`
      SELECT a.*, t.granted, t.authorized_at, t.last_used_at
      FROM (
        SELECT app_id, string_agg(scopes, ' ') AS granted, max(created_at) AS authorized_at, max(last_used_at) AS last_used_at
        FROM oauth_tokens WHERE account_id = ${accountId} AND revoked_at IS NULL GROUP BY app_id
      ) t JOIN oauth_apps a ON a.id = t.app_id
      ORDER BY t.authorized_at DESC LIMIT ${authorizedAppsMax}`)
    return rows.map((row): AuthorizedApp => ({
      app: appOf(row),
      scopes: Scopes.parse(row.granted),
      authorizedAt: row.authorizedAt,
      lastUsedAt: row.lastUsedAt ?? undefined
    }))
  }, Effect.orDie)

  return Apps.of({ register, find, findClient, authenticate, authorizedBy })
})

const first = (rows: ReadonlyArray<Row>) => Option.map(Arr.head(rows), appOf)

const problemsOf = ({ name, redirectUris, scopes, website }: NewApp): ReadonlyArray<string> => {
  const problems: Array<string> = []
  if (name.trim() === "") problems.push("Application name can't be blank")
  if (hasMoreCharacters(name, appNameCharactersMax)) {
    problems.push(`Application name is too long (maximum is ${appNameCharactersMax} characters)`)
  }
  problems.push(...RedirectUris.problemsOf(redirectUris))
  if (!Scopes.areKnown(scopes)) problems.push("Scopes doesn't match those configured on the server.")
  if (website !== undefined) {
    if (!isWebsite(website)) problems.push("Application website is invalid")
    if (website.length > websiteCharactersMax) {
      problems.push(`Application website is too long (maximum is ${websiteCharactersMax} characters)`)
    }
  }
  return problems
}

const isWebsite = (website: string) => {
  const url = URL.canParse(website) ? new URL(website) : undefined
  return url !== undefined && (url.protocol === "http:" || url.protocol === "https:") && url.host !== ""
}
