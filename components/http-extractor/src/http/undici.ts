// The three files of undici that a request needs. Its main file loads a hundred more (fetch, web sockets, caches, mocks), which costs a
// sixth of the time that a small run takes to start (docs/performance.md).

/// <reference path="./undici-parts.d.ts" />

import request from 'undici/lib/api/api-request.js'
import buildConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'

export { Agent, buildConnector, request }
