import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { program } from "./cli/RootCommand.ts"
import { teardown } from "./layers/OperatorError.ts"

program.pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain({ teardown }))
