import { complaints, matches, type Source } from "./source.ts"

/** Names of functions of `Api.ts` and `People.ts`, or of older copies, as a test would define them. */
const helper =
  /\bconst (?:ask|call|json|newcomer|person|post|publish|say|signUp|user) = (?:async\b|\(|Effect\.(?:fn|gen)|function\b|\n *\()/g

/** Finds tests that define functions to call the API or to create people. */
export const ownHelpers = (tests: ReadonlyArray<Source>): ReadonlyArray<string> =>
  complaints(tests.filter(({ path }) => path.endsWith(".test.ts")), ({ code }) => matches(code, helper))
