import { boundedMap } from "../BoundedMap.ts"
import type { TokenInfo } from "./TokenInfo.ts"

/** Tokens that one process remembers. */
const cachedTokensMax = 50_000
/** How long a remembered token is believed, should the message of its revocation be lost (milliseconds). */
export const cachedTokenMillisMax = 30_000

interface Entry {
  readonly info: TokenInfo
  readonly until: number
}

/**
 * Known tokens by the hex of their hash. `generation` changes with everything that is forgotten: an earlier read from
 * the database must not be put here afterwards.
 */
export class TokenCache {
  generation = 0
  readonly #byToken = new Map<bigint, string>()
  readonly #byAccount = new Map<bigint, Set<string>>()
  readonly #entries = boundedMap<string, Entry>(cachedTokensMax, {
    dispose: ({ info }, key) => this.#unindex(info, key)
  })

  get(key: string, now: number): TokenInfo | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.until <= now ? undefined : entry.info
  }

  set(key: string, info: TokenInfo, now: number) {
    this.#entries.set(key, { info, until: now + cachedTokenMillisMax })
    this.#byToken.set(info.tokenId, key)
    if (info.accountId === undefined) return
    const keys = this.#byAccount.get(info.accountId) ?? new Set()
    this.#byAccount.set(info.accountId, keys.add(key))
  }

  forget(tokenIds: ReadonlyArray<bigint>, accountIds: ReadonlyArray<bigint>) {
    this.generation++
    for (const id of tokenIds) {
      const key = this.#byToken.get(id)
      if (key !== undefined) this.#entries.delete(key)
    }
    for (const id of accountIds) {
      for (const key of this.#byAccount.get(id) ?? []) this.#entries.delete(key)
    }
  }

  #unindex(info: TokenInfo, key: string) {
    this.#byToken.delete(info.tokenId)
    if (info.accountId === undefined) return
    const keys = this.#byAccount.get(info.accountId)
    keys?.delete(key)
    if (keys?.size === 0) this.#byAccount.delete(info.accountId)
  }
}
