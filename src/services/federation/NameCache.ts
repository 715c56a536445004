import { boundedMap } from "../BoundedMap.ts"

/** Local accounts that one process remembers by their names. */
const namesMax = 20_000
/** How long they are believed, should the message of a change be lost, in milliseconds. */
const nameMillisMax = 30_000

interface Entry<A> {
  readonly account: A
  readonly until: number
}

/**
 * Accounts by name in lower case, and none that are not there. `generation` changes with everything that is forgotten:
 * what was read before must not be put here afterwards.
 */
export class NameCache<A extends { readonly id: bigint }> {
  generation = 0
  readonly #names = new Map<bigint, string>()
  readonly #entries = boundedMap<string, Entry<A>>(namesMax, {
    dispose: ({ account }) => this.#names.delete(account.id)
  })

  get(name: string, now: number): A | undefined {
    const entry = this.#entries.get(name)
    return entry === undefined || entry.until <= now ? undefined : entry.account
  }

  set(name: string, account: A, now: number) {
    this.#entries.set(name, { account, until: now + nameMillisMax })
    this.#names.set(account.id, name)
  }

  forget(ids: ReadonlyArray<bigint>) {
    this.generation++
    for (const id of ids) {
      const name = this.#names.get(id)
      if (name !== undefined) this.#entries.delete(name)
    }
  }
}
