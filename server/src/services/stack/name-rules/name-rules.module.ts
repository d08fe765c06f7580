import { defineModule } from '../../../model/module.ts'
import { nameRulesRoutes } from './name-rules.routes.ts'

export const createNameRulesModule = () => defineModule({ name: 'name-rules', routes: [nameRulesRoutes] })
