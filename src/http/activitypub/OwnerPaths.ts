import { parseId } from "../../services/database/Ids.ts"
import type { LocalName } from "../../services/instance/LocalNames.ts"

/**
 * Paths of a local account's documents: by its username and by its id. Each account prints one of the two in its ids
 * (`ActorPath`), and responds at both.
 */
export const ownerBases = ["/users/:name", "/ap/users/:account"] as const
export type OwnerBase = typeof ownerBases[number]

/** Parameters of a route's path. */
export type Params = Readonly<Record<string, string | undefined>>

/** Returns the local account that a path below `ownerBases` names; an invalid id is a name that no account has. */
export const ownerIn = ({ account, name = "" }: Params): LocalName =>
  account === undefined ? name : parseId(account) ?? ""
