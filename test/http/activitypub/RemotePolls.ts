import type { Json } from "../../services/federation/Peer.ts"
import { note, type RemotePerson } from "./Sending.ts"

/* Polls of other servers, and polls in our API. */

/** Returns a poll's number of voters, then the votes of each option. */
export const tally = (
  { poll }: { poll: { voters_count: number; options: ReadonlyArray<{ votes_count: number }> } }
) => [
  poll.voters_count,
  ...poll.options.map(({ votes_count }) => votes_count)
]

/** Makes a remote poll with these votes for its options. */
export const remotePoll = (
  by: RemotePerson,
  name: string,
  me: string,
  counts: Record<string, number>,
  more: Json = {}
): Json => ({
  ...note(by, name, { cc: [me], tag: [{ type: "Mention", href: me }] }),
  type: "Question",
  published: new Date(Date.now() - 60_000).toISOString(),
  endTime: new Date(Date.now() + 3_600_000).toISOString(),
  votersCount: Object.values(counts).reduce((sum, count) => sum + count, 0),
  oneOf: Object.entries(counts).map(([name, totalItems]) => ({
    type: "Note",
    name,
    replies: { type: "Collection", totalItems }
  })),
  ...more
})
