// People: their routes.

import type { FastifyInstance } from 'fastify'
import { accountRoutes } from '../services/people/account.routes.ts'
import { projectPeopleRoutes } from '../services/people/project-people.routes.ts'
import { signInRoutes } from '../services/people/sign-in.routes.ts'
import type { Core } from './core.ts'

export function registerPeople(app: FastifyInstance, { people, tokens }: Core): void {
  app.register(signInRoutes({ people, projectName: async (id) => (await tokens.findProject(id))?.name }))
  app.register(accountRoutes(people))
  app.register(projectPeopleRoutes(people))
}
