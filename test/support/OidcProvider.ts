import { Context, Effect, Layer } from "effect"
import { createHash, createSign, generateKeyPairSync, type KeyObject } from "node:crypto"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import * as Loopback from "./Loopback.ts"

type Json = Readonly<Record<string, unknown>>

/** Client id and secret of the server under test. */
export const oidcClient = { id: "murmuration", secret: "s3cret: with & signs" }

interface Key {
  readonly kid: string
  readonly alg: "ES256" | "RS256"
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** Errors in the provider's next responses. */
interface Mistakes {
  /** Claims of the ID token that replace the correct ones. */
  readonly claims?: Json
  /** `none` leaves out the signature; `other` signs with a key that is not published. */
  readonly signature?: "none" | "other"
  /** Issuer of the callback (RFC 9207). */
  readonly iss?: string
  /** Status of every response. */
  readonly status?: number
  /** True if a code can be redeemed again. */
  readonly reusable?: boolean
  /** True if the ID token has no claims of the person; the userinfo endpoint has them. */
  readonly bare?: boolean
  /** Claims of the userinfo endpoint that replace the correct ones. */
  readonly info?: Json
  /** Texts that replace the correct responses, by path. */
  readonly texts?: Readonly<Record<string, (body: Json) => string>>
}

interface Granted {
  readonly challenge: string
  readonly nonce: string
  readonly redirectUri: string
  readonly person: Json
  used: boolean
}

let counter = 0
const keyOf = (alg: Key["alg"]): Key => ({
  kid: `key ${++counter}`,
  alg,
  ...(alg === "RS256"
    ? generateKeyPairSync("rsa", { modulusLength: 2048 })
    : generateKeyPairSync("ec", { namedCurve: "P-256" }))
})

const encoded = (value: Json) => Buffer.from(JSON.stringify(value)).toString("base64url")

const signed = (key: Key, claims: Json, signature: Mistakes["signature"]) => {
  if (signature === "none") return `${encoded({ alg: "none" })}.${encoded(claims)}.`
  const text = `${encoded({ alg: key.alg, kid: key.kid })}.${encoded(claims)}`
  const by = signature === "other" ? keyOf(key.alg).privateKey : key.privateKey
  const bytes = createSign("sha256").update(text).sign({ key: by, dsaEncoding: "ieee-p1363" })
  return `${text}.${bytes.toString("base64url")}`
}

const read = async (request: IncomingMessage) => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk)
  return new URLSearchParams(Buffer.concat(chunks).toString())
}

/** An OpenID Connect provider on a port of this machine. It signs in everyone as `person`. */
export class OidcProvider extends Context.Service<OidcProvider, {
  readonly issuer: string
  /** Claims of the person who signs in next; `sub` is required. */
  readonly become: (person: Json) => void
  /** Makes these errors until the next call. */
  readonly err: (mistakes: Mistakes) => void
  /** Replaces the signing key. */
  readonly rotate: (alg: Key["alg"]) => void
  /** Returns the number of requests for a path. */
  readonly count: (path: string) => number
  /** Follows the redirect to the provider, and returns the path of the callback. */
  readonly follow: (url: string) => Effect.Effect<string>
}>()("murmuration/test/OidcProvider") {
  static readonly layer = Layer.effect(OidcProvider, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  let key = keyOf("RS256")
  let person: Json = {}
  let mistakes: Mistakes = {}
  let issued = 0
  const codes = new Map<string, Granted>()
  const tokens = new Map<string, Json>()
  const asked: Array<string> = []
  let issuer = ""

  const authorize = (query: URLSearchParams) => {
    const redirectUri = query.get("redirect_uri") ?? ""
    const code = `code ${++issued}`
    codes.set(code, {
      challenge: query.get("code_challenge") ?? "",
      nonce: query.get("nonce") ?? "",
      redirectUri,
      person,
      used: false
    })
    const back = new URLSearchParams({ code, state: query.get("state") ?? "", iss: mistakes.iss ?? issuer })
    return { status: 302, headers: { location: `${redirectUri}?${back}` }, body: {} }
  }

  const redeem = (form: URLSearchParams, authorization: string) => {
    const [id = "", secret = ""] = Buffer.from(authorization.replace("Basic ", ""), "base64").toString().split(":")
    const plain = (text: string) => decodeURIComponent(text.replaceAll("+", " "))
    const granted = codes.get(form.get("code") ?? "")
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url")
    const isRight = plain(id) === oidcClient.id && plain(secret) === oidcClient.secret && granted !== undefined &&
      (!granted.used || mistakes.reusable === true) && granted.challenge === challenge &&
      granted.redirectUri === form.get("redirect_uri") && form.get("grant_type") === "authorization_code"
    if (!isRight) return { status: 400, body: { error: "invalid_grant" } }
    granted.used = true
    const now = Math.floor(Date.now() / 1_000)
    const token = `token ${++issued}`
    tokens.set(token, granted.person)
    const claims = {
      iss: issuer,
      aud: oidcClient.id,
      iat: now,
      exp: now + 300,
      nonce: granted.nonce,
      ...(mistakes.bare === true ? { sub: granted.person["sub"] } : granted.person),
      ...mistakes.claims
    }
    return {
      status: 200,
      body: { access_token: token, token_type: "Bearer", id_token: signed(key, claims, mistakes.signature) }
    }
  }

  const respond = async (request: IncomingMessage) => {
    const { pathname, searchParams } = new URL(request.url ?? "", issuer)
    asked.push(pathname)
    if (mistakes.status !== undefined) return { status: mistakes.status, body: {} }
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return {
          status: 200,
          body: {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/keys`,
            userinfo_endpoint: `${issuer}/userinfo`,
            id_token_signing_alg_values_supported: ["RS256", "ES256", "none"],
            authorization_response_iss_parameter_supported: true
          }
        }
      case "/authorize":
        return authorize(searchParams)
      case "/token":
        return redeem(await read(request), request.headers.authorization ?? "")
      case "/keys":
        return {
          status: 200,
          body: { keys: [{ ...key.publicKey.export({ format: "jwk" }), kid: key.kid, use: "sig", alg: key.alg }] }
        }
      case "/userinfo": {
        const found = tokens.get((request.headers.authorization ?? "").replace("Bearer ", ""))
        return found === undefined ? { status: 401, body: {} } : { status: 200, body: { ...found, ...mistakes.info } }
      }
      default:
        return { status: 404, body: {} }
    }
  }

  const server = yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const created = createServer((request, response) =>
        void (async () => {
          const { body, status, ...more } = await respond(request)
          const replaced = mistakes.texts?.[new URL(request.url ?? "", issuer).pathname]
          response.writeHead(status, { "content-type": "application/json", ...("headers" in more ? more.headers : {}) })
          response.end(replaced === undefined ? JSON.stringify(body) : replaced(body))
        })()
      )
      created.listen(0, "127.0.0.1", () => resume(Effect.succeed(created)))
    }),
    (created) => Effect.sync(() => created.close())
  )
  const address = server.address() as AddressInfo
  issuer = `http://127.0.0.1:${address.port}`

  return OidcProvider.of({
    issuer,
    become: (next) => {
      person = next
    },
    err: (next) => {
      mistakes = next
    },
    rotate: (alg) => {
      key = keyOf(alg)
    },
    count: (path) => asked.filter((one) => one === path).length,
    follow: (url) =>
      Effect.promise(async () => {
        const response = await Loopback.request(url, { redirect: "manual" })
        const { pathname, search } = new URL(response.headers.get("location") ?? "", issuer)
        return pathname + search
      })
  })
})
