// A setting of the stack as its environment has it. Only start/config.ts has all of them.

export interface StackSetting {
  readonly name: string
  readonly description: string
  /** For people; may be a sentence. */
  readonly default: string
  readonly isSecret: boolean
  /** Whether it can be changed while the stack runs. */
  readonly isLive: boolean
  /** As given; undefined when it is not, or a secret. */
  readonly given: string | undefined
  readonly isGiven: boolean
  /** Throws an Error whose message completes "NAME is ...". */
  readonly parse: (text: string) => unknown
}
