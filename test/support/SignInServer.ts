import { NodeCrypto, NodeHttpServer, NodeServices } from "@effect/platform-node"
import { Context, Effect, Layer, Queue, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import * as Body from "../../src/http/body/Body.ts"
import { routerConfig } from "../../src/http/body/RequestPaths.ts"
import * as Edge from "../../src/http/Edge.ts"
import { Guard } from "../../src/http/guard/Guard.ts"
import { Limits } from "../../src/http/guard/Limits.ts"
import * as Claims from "../../src/http/oauth/Claims.ts"
import * as Metadata from "../../src/http/oauth/Metadata.ts"
import * as OAuth from "../../src/http/oauth/OAuth.ts"
import * as Pages from "../../src/http/pages/OAuthPages.ts"
import * as AppsApi from "../../src/http/v1/Apps.ts"
import * as EmailsApi from "../../src/http/v1/Emails.ts"
import * as SignUpsApi from "../../src/http/v1/SignUps.ts"
import * as Catalogs from "../../src/layers/Catalogs.ts"
import * as PasswordHashing from "../../src/layers/PasswordHashing.ts"
import { Broadcast } from "../../src/services/Broadcast.ts"
import { Emails } from "../../src/services/emails/Emails.ts"
import { type Email, Mailer } from "../../src/services/emails/Mailer.ts"
import { Accounts } from "../../src/services/identity/Accounts.ts"
import { MailLinks } from "../../src/services/identity/MailLinks.ts"
import { Registrations } from "../../src/services/identity/Registrations.ts"
import { Roles } from "../../src/services/identity/Roles.ts"
import { Sessions } from "../../src/services/identity/Sessions.ts"
import { SignIns } from "../../src/services/identity/SignIns.ts"
import { SignUps } from "../../src/services/identity/SignUps.ts"
import { StaffEmails } from "../../src/services/identity/StaffEmails.ts"
import { Users } from "../../src/services/identity/Users.ts"
import { ServerConfig } from "../../src/services/instance/ServerConfig.ts"
import { Apps } from "../../src/services/oauth/Apps.ts"
import { Grants } from "../../src/services/oauth/Grants.ts"
import { Tokens } from "../../src/services/oauth/Tokens.ts"
import { OpaqueSecrets } from "../../src/services/OpaqueSecrets.ts"
import { configuration } from "./Reads.ts"
import { TestDatabase } from "./TestDatabase.ts"

/** The letters that were sent, in order. */
export class Postbox extends Context.Service<Postbox, Queue.Queue<Email>>()("murmuration/test/Postbox") {
  static readonly layer = Layer.effect(Postbox, Queue.unbounded<Email>())
  static readonly next = Effect.flatMap(Postbox, Queue.take)
}

const mailer = Layer.effect(
  Mailer,
  Effect.map(Postbox, (letters) => Mailer.of({ send: (email) => Effect.asVoid(Queue.offer(letters, email)) }))
)

const identity = Layer.mergeAll(MailLinks.layer, SignIns.layer, StaffEmails.layer).pipe(
  Layer.provideMerge(Emails.layer),
  Layer.provideMerge(Users.layer),
  Layer.provideMerge(Layer.mergeAll(Accounts.layer, Registrations.layer, Roles.layer, Sessions.layer))
)

const oauth = Layer.mergeAll(Apps.layer, Grants.layer).pipe(Layer.provideMerge(Tokens.layer))

/** The services of signing in, on a database of their own, with passwords that cost nothing. */
export const services = (
  config: Partial<ServerConfig["Service"]> = {},
  credentials = PasswordHashing.layerSimulation
) =>
  SignUps.layer.pipe(
    Layer.provideMerge(identity),
    Layer.provideMerge(oauth),
    Layer.provideMerge(Layer.merge(OpaqueSecrets.layer, credentials)),
    Layer.provideMerge(Layer.merge(mailer, Broadcast.layerMemory)),
    Layer.provideMerge(Catalogs.layer.pipe(Layer.provide(NodeServices.layer))),
    Layer.provideMerge(Layer.mergeAll(Postbox.layer, NodeCrypto.layer, TestDatabase.layer)),
    Layer.provideMerge(Layer.succeed(ServerConfig, { ...configuration, signupConfirmation: "mail", ...config }))
  )

class Api extends HttpApi.make("murmuration")
  .add(AppsApi.AppsGroup)
  .add(SignUpsApi.SignUpsGroup)
  .add(EmailsApi.EmailsGroup)
  .add(OAuth.OAuthGroup)
  .add(Claims.ClaimsGroup)
  .add(Metadata.MetadataGroup)
{}

const groups = Layer.mergeAll(
  AppsApi.layer,
  SignUpsApi.layer,
  EmailsApi.layer,
  OAuth.layer,
  Claims.layer,
  Metadata.layer
)

const routes = Layer.mergeAll(
  Edge.layer,
  Body.layer,
  Pages.layer,
  HttpApiBuilder.layer(Api).pipe(Layer.provide(groups), Layer.provide(Guard.layer))
)

/** The same behind HTTP, on a port of its own. */
export const server = (
  config: Partial<ServerConfig["Service"]> = {},
  options: { readonly limits?: Layer.Layer<Limits>; readonly credentials?: typeof PasswordHashing.layerSimulation } = {}
) =>
  HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true, routerConfig }).pipe(
    Layer.provideMerge(NodeHttpServer.layerTest),
    Layer.provideMerge(options.limits ?? Limits.layerOff),
    Layer.provideMerge(services(config, options.credentials))
  )

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** Sends a request; redirects are not followed. */
export const send = Effect.fnUntraced(function*(path: string, init: RequestInit = {}) {
  const { address } = yield* HttpServer.HttpServer
  const port = address._tag === "UnixPathAddress" ? 0 : address.port
  return yield* Effect.promise(async (): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: "manual", ...init })
    const text = await response.text()
    const json = response.headers.get("content-type")?.includes("json") === true && text !== ""
    return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined }
  })
})

export const post = (path: string, parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  send(path, { method: "POST", body: new URLSearchParams(parameters), headers })

export const get = (path: string, token?: string) =>
  send(path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })

/** A client that has registered. */
export const client = Effect.fnUntraced(function*(scopes: string, redirectUri = "https://app.example/back") {
  const apps = yield* Apps
  const { app, secret } = yield* apps.register({
    name: "Test app",
    redirectUris: [redirectUri],
    scopes: scopes.split(" "),
    website: "https://app.example"
  })
  return { ...app, redirectUri, credentials: { client_id: app.clientId, client_secret: Redacted.value(secret) } }
})

export const password = "correct horse battery"

/** A user that is confirmed and approved. */
export const user = Effect.fnUntraced(function*(username: string) {
  const registrations = yield* Registrations
  return yield* registrations.create({
    username,
    email: `${username}@mail.example`,
    password: Redacted.make(password),
    approved: true,
    confirmed: true
  })
})
