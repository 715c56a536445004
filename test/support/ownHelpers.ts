import { complaints, matches, type Source } from "./source.ts"

/** Definitions in a test of functions that `Api.ts` and `People.ts` have, or of older copies. */
const helper =
  /\bconst (?:ask|call|json|newcomer|person|post|publish|say|signUp|user) = (?:async\b|\(|Effect\.(?:fn|gen)|function\b|\n *\()/g

/** Finds tests that define their own functions to call the API or to create people. */
export const ownHelpers = (tests: ReadonlyArray<Source>): ReadonlyArray<string> =>
  complaints(tests.filter(({ path }) => path.endsWith(".test.ts")), ({ code }) => matches(code, helper))
