import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"
import { idMax } from "../Ids.ts"

/** Tokens of links that name a row: nobody but this server can make one, and none is kept. */
interface LinkTokens<Purpose extends string> {
  readonly make: (purpose: Purpose, id: bigint) => string
  /** The row of a token; undefined for what is no token of ours for that. */
  readonly read: (purpose: Purpose, token: string) => bigint | undefined
}

/** Tokens by a key of their own, derived from the server's. */
export const linkTokens = <Purpose extends string>(signingKey: string, about: string): LinkTokens<Purpose> => {
  const key = new Uint8Array(hkdfSync("sha256", signingKey, "", about, 32))
  const signature = (purpose: Purpose, id: bigint) =>
    createHmac("sha256", key).update(`${purpose}:${id}`).digest("base64url")
  return {
    make: (purpose, id) => `${id}.${signature(purpose, id)}`,
    read: (purpose, given) => {
      const [, digits = "", signed = ""] = /^(\d{1,19})\.([\w-]{43})$/.exec(given) ?? []
      const id = BigInt(digits)
      if (digits === "" || id > idMax) return undefined
      return timingSafeEqual(Buffer.from(signed), Buffer.from(signature(purpose, id))) ? id : undefined
    }
  }
}
