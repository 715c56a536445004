import { ConfigProvider, Layer } from "effect"
import { Environment, serverConfig } from "../../src/layers/Environment.ts"

/** Provides the configuration of a server with only these variables, as `Environment` and `ServerConfig`. */
export const testEnvironment = (variables: Record<string, string>) =>
  serverConfig.pipe(
    Layer.provideMerge(Environment.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))
  )
