import { Context, Effect, Layer, Redacted } from "effect"
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"
import { Secrets } from "../secrets/Secrets.ts"

/** Bytes of a key in a URL. */
const keyBytes = 16

/**
 * Keys in the URLs of shared annual reports: unguessable, so only people with the link can open one. Derived from the
 * server's signing key, so none is stored.
 */
export class ShareKeys extends Context.Service<ShareKeys, {
  readonly of: (account: bigint, year: number) => string
  readonly opens: (account: bigint, year: number, key: string) => boolean
}>()("murmuration/services/annual/ShareKeys") {
  static readonly layer = Layer.effect(
    ShareKeys,
    Effect.gen(function*() {
      const { signingKey } = yield* Secrets
      const secret = new Uint8Array(hkdfSync("sha256", Redacted.value(signingKey), "", "shared reports of years", 32))
      const of = (account: bigint, year: number) =>
        createHmac("sha256", secret).update(`${account}:${year}`).digest().subarray(0, keyBytes).toString("base64url")
      return ShareKeys.of({
        of,
        opens: (account, year, key) => {
          const [given, right] = [Buffer.from(key), Buffer.from(of(account, year))]
          return given.length === right.length && timingSafeEqual(given, right)
        }
      })
    })
  )
}
