import { Layer } from "effect"
import * as ListPages from "./ListPages.ts"
import * as MemberPages from "./MemberPages.ts"

/** Lists, their timelines and members. */
export const layer = Layer.merge(ListPages.layer, MemberPages.layer)
