import { Layer } from "effect"
import * as AdminHeldPosts from "./AdminHeldPosts.ts"
import * as AdminSpamRules from "./AdminSpamRules.ts"
import * as HeldPostList from "./pages/HeldPostList.ts"
import * as SpamRuleList from "./pages/SpamRuleList.ts"
import * as SpamRulePage from "./pages/SpamRulePage.ts"
import * as SpamRunPage from "./pages/SpamRunPage.ts"

export const groups = [AdminSpamRules.AdminSpamRulesGroup, AdminHeldPosts.AdminHeldPostsGroup] as const

/** Handlers of the groups. */
export const layer = Layer.mergeAll(AdminHeldPosts.layer, AdminSpamRules.layer)

/** Staff pages. */
export const pages = Layer.mergeAll(HeldPostList.layer, SpamRuleList.layer, SpamRulePage.layer, SpamRunPage.layer)
