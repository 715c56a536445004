export { layer } from "./StatusActs.ts"
