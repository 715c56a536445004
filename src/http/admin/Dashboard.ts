import { Effect, Layer } from "effect"
import { WaitingWork } from "../../services/staff/WaitingWork.ts"
import { html } from "../html/Html.ts"
import { StaffPages } from "./StaffPages.ts"

/** What waits, and how the server is. */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const staff = yield* StaffPages
  const waiting = yield* WaitingWork
  return staff.page({
    path: "/admin",
    permission: "viewDashboard",
    show: Effect.fnUntraced(function*({ words: { figure, say } }) {
      const counts = yield* waiting.counts
      return {
        title: say("Dashboard"),
        body: html`<ul class="tiles"><li><a href="/admin/reports"><strong>${figure(counts.reports)}</strong> ${
          say("open reports")
        }</a></li></ul>`
      }
    })
  })
})).pipe(Layer.provide(WaitingWork.layer))
