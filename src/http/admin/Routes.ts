import { Layer } from "effect"
import { Forms } from "../html/Forms.ts"
import { Visitors } from "../html/Visitors.ts"
import * as Dashboard from "./Dashboard.ts"
import { StaffPages } from "./StaffPages.ts"
import * as StaffStyle from "./StaffStyle.ts"

/** The staff area: every page under /admin. */
export const layer = Layer.mergeAll(
  Dashboard.layer,
  StaffStyle.layer
).pipe(Layer.provide(StaffPages.layer), Layer.provide(Forms.layer), Layer.provide(Visitors.layer))
