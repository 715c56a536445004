import { Effect, Option, Redacted } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { type App, Apps } from "../../services/oauth/Apps.ts"
import * as RedirectUris from "../../services/oauth/RedirectUris.ts"
import * as Scopes from "../../services/oauth/Scopes.ts"
import { Unauthorized } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Secrets } from "../../services/secrets/Secrets.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { Application, CredentialApplication, NewApplication } from "../wire/Application.ts"
import { json, type Values } from "../wire/Keys.ts"

export class AppsGroup extends HttpApiGroup.make("apps")
  .add(
    HttpApiEndpoint.post("register", "/api/v1/apps", { payload: NewApplication, success: CredentialApplication })
      .annotate(Access, Access.limited(Access.anyone, "apps")),
    HttpApiEndpoint.get("verifyCredentials", "/api/v1/apps/verify_credentials", { success: Application })
      .annotate(Access, Access.unconfirmed(Access.appOrUser()))
  )
  .middleware(Guard)
{}

/** Registration of clients (S-253), and the app of a token (S-132). */
export const layer = group(
  AppsGroup,
  Effect.fn(function*(handlers) {
    const apps = yield* Apps
    const { publicUrl } = yield* ServerConfig
    const { vapid: { publicKey } } = yield* Secrets
    return handlers.handleAll({
      register: traced("apps.register")(function*({ payload }) {
        const { app, secret } = yield* apps.register({
          name: payload.clientName ?? "",
          redirectUris: RedirectUris.split(payload.redirectUris ?? []),
          scopes: scopesOf(payload.scopes),
          website: payload.website?.trim() || undefined
        })
        return Reply.json(json<CredentialApplication>({
          ...valuesOf(app, publicKey),
          clientId: app.clientId,
          clientSecret: Redacted.value(secret),
          clientSecretExpiresAt: 0
        }))
      }),
      verifyCredentials: traced("apps.verifyCredentials")(function*() {
        const { appId, scopes } = yield* Caller
        if (appId === undefined) return Reply.json(json<Application>(serverItself(publicUrl, [...scopes], publicKey)))
        const app = yield* apps.find(appId)
        if (Option.isNone(app)) return yield* new Unauthorized({ reason: "invalid" })
        return Reply.json(json<Application>(valuesOf(app.value, publicKey)))
      })
    })
  })
)

const scopesOf = (written: string | null | undefined) => {
  const scopes = Scopes.parse(written ?? "")
  return scopes.length === 0 ? Scopes.defaultScopes : scopes
}

/** Application shown for a token that no app requested: the operator's command line made it. */
const serverItself = (publicUrl: string, scopes: ReadonlyArray<string>, vapidKey: string): Values<Application> => ({
  id: "0",
  name: "Murmuration",
  website: publicUrl,
  scopes,
  redirectUris: [RedirectUris.outOfBand],
  redirectUri: RedirectUris.outOfBand,
  vapidKey
})

const valuesOf = (app: App, vapidKey: string): Values<Application> => ({
  id: String(app.id),
  name: app.name,
  website: app.website ?? null,
  scopes: app.scopes,
  redirectUris: app.redirectUris,
  redirectUri: app.redirectUris.join("\n"),
  vapidKey
})
