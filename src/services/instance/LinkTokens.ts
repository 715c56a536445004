import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"
import { idMax } from "../database/Ids.ts"

/** Signed tokens of links, each for the id of a row. Only this server can make them, and none is stored. */
interface LinkTokens<Purpose extends string> {
  readonly make: (purpose: Purpose, id: bigint) => string
  /** Returns the id in a token; undefined if the signature or the purpose is wrong. */
  readonly read: (purpose: Purpose, token: string) => bigint | undefined
}

/** Makes tokens with a key that is derived from the server's signing key for `about`. */
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
