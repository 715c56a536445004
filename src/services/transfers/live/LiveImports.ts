import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../database/Ids.ts"
import { parseId } from "../../database/Ids.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { portability } from "../../oauth/Scopes.ts"
import { RecordNotFound, Unprocessable } from "../../runtime/Errors.ts"
import { traced } from "../../runtime/Traced.ts"
import { secretCipher } from "../../secrets/Seals.ts"
import { nameCharactersMax } from "../ImportLine.ts"
import type { Transfer } from "../Transfer.ts"
import { Transfers } from "../Transfers.ts"
import {
  decodeLiveCursor,
  decodeLiveImport,
  type LiveCursor,
  type LiveImport,
  LiveSecrets,
  type LiveSource,
  newLiveImport
} from "./LiveImport.ts"
import { LiveSources } from "./LiveSources.ts"
import * as Revocations from "./Revocations.ts"

/** Path of the page to which the other server sends the member back. */
export const liveCallbackPath = "/settings/live_imports/callback"

const SecretsJson = Schema.fromJsonString(LiveSecrets)
const encodeSecrets = Schema.encodeEffect(SecretsJson)
const decodeSecrets = Schema.decodeUnknownEffect(SecretsJson)

/** An import with its options and cursor. */
interface OpenImport {
  readonly options: LiveImport
  readonly cursor: LiveCursor | undefined
}

/** Choices of the owner who confirms an import. */
interface Choices {
  readonly withFollows: boolean
  readonly withBlocks: boolean
  readonly withLikes: boolean
}

const utf8 = new TextEncoder()

/**
 * Returns the account of a consent: the one that the user chose at the OAuth server, else the one at the same origin as
 * that server (LOLA 0.2). Returns undefined for an account of another server, which would get a token that is not for
 * it, and for the response of another OAuth server (RFC 9207).
 */
const chosenActor = ({ actor, authorizationEndpoint }: LiveSource, query: URLSearchParams): string | undefined => {
  const { origin } = new URL(authorizationEndpoint)
  const issuer = query.get("iss")
  if (issuer !== null && URL.parse(issuer)?.origin !== origin) return undefined
  const named = query.get("activitypub_actor")
  if (named === null) return new URL(actor).origin === origin ? actor : undefined
  const chosen = URL.parse(named)
  return chosen?.origin === new URL(actor).origin ? chosen.href : undefined
}

/** Imports of accounts from their servers (LOLA 0.2), for their owners. `TransferRunner` runs them. */
export class LiveImports extends Context.Service<LiveImports, {
  /** Begins an import from an address: a handle, or the URL of an actor. */
  readonly begin: (owner: AccountId, address: string) => Effect.Effect<Transfer, Unprocessable>
  /** Decodes an import. */
  readonly open: (transfer: Transfer) => Effect.Effect<OpenImport>
  /** Returns the URL at which the owner gives the consent; undefined unless the import waits for it. */
  readonly authorization: (transfer: Transfer) => Effect.Effect<string | undefined>
  /**
   * Takes the response of the other server. Fails unless its state is that of an import of the owner, and its consent is
   * for an account of the server that gets the token.
   */
  readonly authorized: (owner: AccountId, query: URLSearchParams) => Effect.Effect<
    Transfer,
    RecordNotFound | Unprocessable
  >
  /** Begins an import whose plan its owner has seen. Repeating it changes nothing. */
  readonly confirm: (owner: AccountId, id: bigint, choices: Choices) => Effect.Effect<Transfer, RecordNotFound>
  /** Ends an import that is not final, and revokes its token in the background. Returns the import. */
  readonly cancel: (owner: AccountId, id: bigint) => Effect.Effect<Transfer, RecordNotFound>
  /**
   * Ends imports that nobody confirmed in time, and those of suspended and deleted accounts. Revokes the tokens of ended
   * imports and deletes their secrets, and the imports of deleted accounts.
   */
  readonly endAbandoned: Effect.Effect<void, SqlError>
  /**
   * Revokes the token of an import that ends. Returns true if no token is left, or the other server cannot revoke it;
   * false if it did not respond.
   */
  readonly revoke: (transfer: Transfer) => Effect.Effect<boolean>
  /** URL of the callback. */
  readonly redirectUri: string
  /** Creates the secrets of an authorization request. */
  readonly newSecrets: (id: bigint, clientSecret: string | null) => Effect.Effect<LiveSecrets>
  readonly seal: (secrets: LiveSecrets) => Effect.Effect<string>
  /** Returns the secrets; undefined if there are none, or the server's signing key has changed. */
  readonly unseal: (options: LiveImport) => Effect.Effect<LiveSecrets | undefined>
}>()("murmuration/services/transfers/live/LiveImports") {
  static readonly layerNoDeps = Layer.effect(LiveImports, Effect.suspend(() => make))
  static readonly layer = LiveImports.layerNoDeps.pipe(Layer.provide([LiveSources.layer, Transfers.layer]))
}

const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const cipher = yield* secretCipher("live imports")
  const digest = yield* Digest.Digest
  const random = yield* SecureRandom.SecureRandom
  const scope = yield* Effect.scope
  const sql = yield* SqlClient.SqlClient
  const sources = yield* LiveSources
  const transfers = yield* Transfers
  const redirectUri = publicUrl + liveCallbackPath

  const seal = (secrets: LiveSecrets) =>
    encodeSecrets(secrets).pipe(
      Effect.flatMap((text) => cipher.encrypt(Redacted.make(text))),
      Effect.map(Base64Url.encode),
      Effect.orDie
    )
  const unseal = Effect.fnUntraced(function*({ secrets }: LiveImport) {
    const bytes = secrets === undefined ? undefined : new Uint8Array(Buffer.from(secrets, "base64url"))
    const text = bytes && cipher.decrypt(bytes)
    return text && (yield* Effect.orDie(decodeSecrets(Redacted.value(text))))
  })

  const open = Effect.fnUntraced(function*({ cursor, options }: Transfer) {
    return {
      options: yield* decodeLiveImport(options),
      cursor: cursor === null ? undefined : yield* decodeLiveCursor(cursor)
    }
  }, Effect.orDie)

  /** Returns an import that waits for consent, with its secrets. */
  const waiting = Effect.fnUntraced(function*(transfer: Transfer) {
    if (transfer.kind !== "live_in" || transfer.state !== "unconfirmed") return undefined
    const { cursor, options } = yield* open(transfer)
    const { source } = options
    const secrets = cursor?.phase === "authorize" ? yield* unseal(options) : undefined
    return source === null || secrets === undefined ? undefined : { options, secrets, source }
  })

  const { endAbandoned, forget, revoke } = Revocations.make({
    cancel: transfers.cancel,
    revoke: Effect.fnUntraced(function*(transfer) {
      const { options } = yield* open(transfer)
      const secrets = yield* unseal(options)
      if (options.source !== null && secrets?.token !== undefined) yield* sources.revoke(options.source, secrets)
    })
  }, sql)

  return LiveImports.of({
    endAbandoned,
    revoke,
    redirectUri,
    seal,
    unseal,
    open,
    newSecrets: Effect.fnUntraced(function*(id, clientSecret) {
      const chance = Effect.map(random.randomBytes(32), Base64Url.encode)
      return { state: `${id}-${yield* chance}`, verifier: yield* chance, clientSecret }
    }, Effect.orDie),
    begin: traced("LiveImports.begin")(function*(owner: AccountId, given: string) {
      const address = given.trim()
      if (address === "" || address.length > nameCharactersMax || /\p{Cc}/u.test(address)) {
        return yield* new Unprocessable({ text: "The address is not valid." })
      }
      return yield* transfers.begin(owner, {
        kind: "live_in",
        source: address,
        options: newLiveImport(address),
        total: 0,
        failed: 0,
        unconfirmed: false
      })
    }),
    authorization: traced("LiveImports.authorization")(function*(transfer: Transfer) {
      const found = yield* waiting(transfer)
      if (found === undefined) return undefined
      const { secrets, source } = found
      const challenge = yield* Effect.orDie(digest.digest(Digest.sha256, utf8.encode(secrets.verifier)))
      const url = new URL(source.authorizationEndpoint)
      const parameters = {
        ["response_type"]: "code",
        ["client_id"]: source.clientId,
        ["redirect_uri"]: redirectUri,
        scope: portability,
        state: secrets.state,
        ["code_challenge"]: Base64Url.encode(challenge),
        ["code_challenge_method"]: "S256"
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url.href
    }),
    authorized: traced("LiveImports.authorized")(function*(owner: AccountId, query: URLSearchParams) {
      const state = query.get("state") ?? ""
      const id = parseId(state.split("-", 1)[0])
      const transfer = id === undefined ? undefined : yield* transfers.find(owner, id)
      const found = transfer && (yield* waiting(transfer))
      if (transfer === undefined || found === undefined || found.secrets.state !== state) {
        return yield* new RecordNotFound()
      }
      const code = query.get("code") ?? ""
      const { secrets, source } = found
      const actor = chosenActor(source, query)
      if (code === "" || actor === undefined) {
        return yield* new Unprocessable({ text: "The other server gave no consent." })
      }
      return yield* transfers.confirm(owner, transfer.id, {
        source: { ...source, actor },
        secrets: yield* seal({ ...secrets, code })
      })
    }),
    confirm: traced("LiveImports.confirm")(function*(owner: AccountId, id: bigint, choices: Choices) {
      const transfer = yield* transfers.find(owner, id)
      if (transfer.kind !== "live_in" || (yield* open(transfer)).cursor?.phase !== "planned") {
        return yield* new RecordNotFound()
      }
      return yield* transfers.confirm(owner, id, { confirmed: true, ...choices })
    }),
    cancel: traced("LiveImports.cancel")(function*(owner: AccountId, id: bigint) {
      const transfer = yield* transfers.find(owner, id)
      if (transfer.kind !== "live_in") return yield* new RecordNotFound()
      const ended = yield* transfers.cancel(owner, id)
      // A node that dies before this leaves it to the next round.
      yield* Effect.forkIn(Effect.ignore(forget(ended)), scope)
      return ended
    })
  })
})
