import type { AccountId, TokenId } from "../../services/database/Ids.ts"
import type { Channel } from "./Channels.ts"
import type { StreamEvent } from "./StreamEvent.ts"

/**
 * Maximum open streams on a node: in total, per account, per token, and per address (an IPv6 address by its /64), which a
 * whole school may share; beyond it new ones get 503.
 */
export const connectionsMax = 20_000
export const connectionsOfAccountMax = 100
export const connectionsOfTokenMax = 50
export const connectionsOfAddressMax = 1_500
/** Maximum channels of a connection. */
export const channelsOfConnectionMax = 200

/** Events beyond Mastodon's, sent to connections that list them in `supported_events[]`. */
export const onDemandEvents = ["marker"] as const

/** An open stream of an account. */
export interface Connection {
  readonly accountId: AccountId
  readonly tokenId: TokenId
  readonly address: string
  /** The full address; `address` has an IPv6 address as its /64. */
  readonly exactAddress: string
  /** True if its token may read notifications. */
  readonly hearsNotifications: boolean
  /** Notification types beyond Mastodon's that the client lists as supported. */
  readonly supportedTypes: ReadonlySet<string>
  /** The `onDemandEvents` that the client lists; the web client's streams also have "notifications_dismissed" and "relations". */
  readonly supportedEvents: ReadonlySet<string>
  /** Sends an event without waiting for its delivery; a connection that is too slow closes itself. */
  readonly send: (event: StreamEvent, channel: Channel) => void
  readonly end: (reason: EndReason) => void
}

/**
 * Reason for which the server ends a stream: the address is blocked, the token is no longer valid, or the node stops
 * and another one has to serve the client.
 */
export type EndReason = "blocked" | "revoked" | "stopping"

/** Connections to this node and their channels. */
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

  /** Accepts no more connections. */
  close(): void {
    this.#closed = true
  }

  /** Adds a connection; false if a limit is reached. */
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

  /** Subscribes a connection, without effect if it has the topic already. Returns false if it has too many. */
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

  /** Returns the listeners of a topic, each with its own channel. */
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
