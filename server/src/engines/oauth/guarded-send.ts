// How requests leave: engines/egress does it, with the rules of the stack.

export interface GuardedRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
}

export interface GuardedAnswer {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

/** Throws `egress.refused`, `egress.timedOut` or `egress.failed`. */
export interface GuardedSend {
  send(request: GuardedRequest): Promise<GuardedAnswer>
}
