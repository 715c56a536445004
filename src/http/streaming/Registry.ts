import type { AccountId, TokenId } from "../../services/Ids.ts"
import type { Channel } from "./Channels.ts"
import type { StreamEvent } from "./StreamEvent.ts"

/**
 * Open streams on one node: in all, of one account, of one token, and of one address (an IPv6 address by its /64),
 * behind which may be a whole school; beyond it new ones are told to come back.
 */
export const connectionsMax = 20_000
export const connectionsOfAccountMax = 100
export const connectionsOfTokenMax = 50
export const connectionsOfAddressMax = 1_500
/** Channels that one connection listens to. */
export const channelsOfConnectionMax = 200

/** Events beyond Mastodon, sent to connections that name them in `supported_events[]`. */
export const onDemandEvents = ["marker"] as const

/** An open stream of somebody. */
export interface Connection {
  readonly accountId: AccountId
  readonly tokenId: TokenId
  readonly address: string
  /** The same as it is, where an IPv6 address counts as its /64. */
  readonly exactAddress: string
  /** Its token may read notifications. */
  readonly hearsNotifications: boolean
  /** Types of notifications beyond Mastodon's that it says it knows. */
  readonly supportedTypes: ReadonlySet<string>
  /** Those of `onDemandEvents` that it asks for. */
  readonly supportedEvents: ReadonlySet<string>
  /** Hands an event over and does not wait for it to arrive; a connection that does not keep up closes itself. */
  readonly send: (event: StreamEvent, channel: Channel) => void
  readonly end: (reason: EndReason) => void
}

/** Why the server ends a stream: its address may not come any more, its token is good no more, or this node stops and another one has to serve it. */
export type EndReason = "blocked" | "revoked" | "stopping"

/** Who is connected to this node, and what they listen to. */
export class Registry {
  readonly #channels = new Map<Connection, Map<string, Channel>>()
  readonly #topics = new Map<string, Map<Connection, Channel>>()
  readonly #accounts = new Map<AccountId, Set<Connection>>()
  readonly #tokens = new Map<TokenId, number>()
  readonly #addresses = new Map<string, number>()
  #closed = false

  get size(): number {
    return this.#channels.size
  }

  /** Enters nobody from now on. */
  close(): void {
    this.#closed = true
  }

  /** False where there is no room. */
  add(connection: Connection): boolean {
    if (this.#closed) return false
    const others = this.#accounts.get(connection.accountId) ?? new Set()
    if (
      this.size >= connectionsMax || others.size >= connectionsOfAccountMax ||
      (this.#tokens.get(connection.tokenId) ?? 0) >= connectionsOfTokenMax ||
      (this.#addresses.get(connection.address) ?? 0) >= connectionsOfAddressMax
    ) return false
    count(this.#tokens, connection.tokenId, 1)
    count(this.#addresses, connection.address, 1)
    this.#accounts.set(connection.accountId, others.add(connection))
    this.#channels.set(connection, new Map())
    return true
  }

  remove(connection: Connection): void {
    for (const topic of this.#channels.get(connection)?.keys() ?? []) this.#leave(connection, topic)
    if (!this.#channels.delete(connection)) return
    count(this.#tokens, connection.tokenId, -1)
    count(this.#addresses, connection.address, -1)
    const others = this.#accounts.get(connection.accountId)
    others?.delete(connection)
    if (others?.size === 0) this.#accounts.delete(connection.accountId)
  }

  /** A topic that the connection has already stays as it is. False where it has too many. */
  subscribe(connection: Connection, channel: Channel): boolean {
    const channels = this.#channels.get(connection)
    if (channels === undefined || channels.has(channel.topic)) return true
    if (channels.size >= channelsOfConnectionMax) return false
    channels.set(channel.topic, channel)
    const listeners = this.#topics.get(channel.topic) ?? new Map()
    this.#topics.set(channel.topic, listeners.set(connection, channel))
    return true
  }

  unsubscribe(connection: Connection, topic: string): void {
    if (this.#channels.get(connection)?.delete(topic) === true) this.#leave(connection, topic)
  }

  /** Who listens to a topic, each with its own channel. */
  listeners(topic: string): ReadonlyMap<Connection, Channel> {
    return this.#topics.get(topic) ?? nobody
  }

  connections(): ReadonlyArray<Connection> {
    return [...this.#channels.keys()]
  }

  accounts(): ReadonlyArray<AccountId> {
    return [...this.#accounts.keys()]
  }

  ofAccount(accountId: AccountId): ReadonlyArray<Connection> {
    return [...this.#accounts.get(accountId) ?? []]
  }

  #leave(connection: Connection, topic: string): void {
    const listeners = this.#topics.get(topic)
    listeners?.delete(connection)
    if (listeners?.size === 0) this.#topics.delete(topic)
  }
}

const count = <Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void => {
  const now = (counts.get(key) ?? 0) + change
  if (now === 0) counts.delete(key)
  else counts.set(key, now)
}

const nobody: ReadonlyMap<Connection, Channel> = new Map()
